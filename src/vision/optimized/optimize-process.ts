/** Entry module of the process that writes optimized copies of networks. */
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../../lib/ids.ts'
import { writeFileAtomic } from '../../models/artifact-file.ts'
import { builtinPack } from '../../models/builtin/builtin-pack.ts'
import { sha256Of } from '../../models/sha256.ts'
import { saveOptimizedNetwork } from '../session.ts'
import { optimizedPaths, type CopyReport } from './copy-report.ts'
import { isWorthwhile, measureInt8 } from './measure-int8.ts'
import type { SourceNetwork } from './optimized-networks.ts'

const [folder = '', networksJson = ''] = process.argv.slice(2)

// Written by the parent process from verified files.
const networks = JSON.parse(networksJson) as readonly SourceNetwork[]
for (const network of networks) await writeCopy(network)

async function writeCopy({ filePath, sha256, int8 }: SourceNetwork): Promise<void> {
  const paths = { float32: unfinishedPath(), int8: unfinishedPath() }
  try {
    await saveOptimizedNetwork(filePath, paths.float32)
    if (int8) await saveOptimizedNetwork(int8.filePath, paths.int8)
    const measurement = int8 && (await measureInt8(builtinPack.models[int8.id], paths))
    const isInt8 = int8?.mode === 'on' || (measurement !== undefined && isWorthwhile(measurement))
    const bytes = await readFile(isInt8 ? paths.int8 : paths.float32)
    const report: CopyReport = {
      sha256: sha256Of(bytes),
      precision: isInt8 ? 'int8' : 'float32',
      ...(measurement && { measurement }),
    }
    const target = optimizedPaths(folder, sha256)
    await writeFileAtomic(target.reportPath, Buffer.from(JSON.stringify(report)))
    await writeFileAtomic(target.filePath, bytes)
  } finally {
    for (const file of Object.values(paths)) await rm(file, { force: true })
  }
}

function unfinishedPath(): string {
  return path.join(folder, `${newId()}.unfinished`)
}
