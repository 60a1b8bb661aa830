import { createHash } from 'node:crypto'
import {
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { cpus } from 'node:os'
import path from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { ImageAnalysis } from '../../../src/vision/image-analysis.ts'
import { outputDir, rootDir } from '../paths.ts'

/** The results of the networks that an earlier run of the same version stored. */
export type StoredAnalyses = {
  readonly read: (key: string) => ImageAnalysis | undefined
  readonly write: (key: string, analysis: ImageAnalysis) => void
}

/** Everything but the image and its options that a result depends on, from the project's root. */
const sources = [
  'src/{lib,models,vision}/**/*.{ts,json,f16,wat}',
  'test/support/vision/*.ts',
  'package-lock.json',
]

/** Opens the results of this version, and deletes those of other versions. */
export function openStoredAnalyses(): StoredAnalyses {
  const parent = path.join(outputDir, 'analyses')
  const version = versionOf(sources)
  const folder = path.join(parent, version)
  mkdirSync(folder, { recursive: true })
  for (const other of readdirSync(parent))
    if (other !== version) rmSync(path.join(parent, other), { recursive: true, force: true })
  return {
    read: (key) => {
      try {
        return deserialize(readFileSync(path.join(folder, key))) as ImageAnalysis
      } catch {
        return undefined
      }
    },
    write: (key, analysis) => {
      const unfinished = path.join(folder, `${key}.${process.pid}`)
      writeFileSync(unfinished, serialize(analysis))
      renameSync(unfinished, path.join(folder, key))
    },
  }
}

/** Returns the checksum of the sources, the installed packages and the machine. */
function versionOf(patterns: readonly string[]): string {
  const hash = createHash('sha256').update(process.version + process.arch)
  hash.update(cpus()[0]?.model ?? '')
  for (const file of globSync([...patterns], { cwd: rootDir }).sort())
    hash.update(`\0${file}\0`).update(readFileSync(path.join(rootDir, file)))
  return hash.digest('hex')
}
