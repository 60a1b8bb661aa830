/** Entry module of the process that writes optimized copies of networks. */
import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { newId } from '../../lib/ids.ts'
import { writeFileAtomic } from '../../models/artifact-file.ts'
import { sha256Of } from '../../models/sha256.ts'
import { saveOptimizedNetwork } from '../session.ts'
import { optimizedPaths, type SourceNetwork } from './optimized-networks.ts'

const [folder = '', networksJson = ''] = process.argv.slice(2)

// Written by the parent process from verified files.
for (const { filePath, sha256 } of JSON.parse(networksJson) as readonly SourceNetwork[]) {
  const unfinishedPath = path.join(folder, `${newId()}.unfinished`)
  try {
    await saveOptimizedNetwork(filePath, unfinishedPath)
    const bytes = await readFile(unfinishedPath)
    const target = optimizedPaths(folder, sha256)
    await writeFileAtomic(target.checksumPath, Buffer.from(sha256Of(bytes)))
    await writeFileAtomic(target.filePath, bytes)
  } finally {
    await rm(unfinishedPath, { force: true })
  }
}
