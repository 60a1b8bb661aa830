import { existsSync, renameSync } from 'node:fs'
import path from 'node:path'

/** The package.json of the checkout while `npm pack` runs. */
export const savedManifest = 'package.json.unpacked'

/** Restores package.json after `npm pack`, or before the next one if it was interrupted. */
export function restoreManifest(rootDir: string): void {
  const saved = path.join(rootDir, savedManifest)
  if (existsSync(saved)) renameSync(saved, path.join(rootDir, 'package.json'))
}

if (import.meta.main) restoreManifest(path.join(import.meta.dirname, '../..'))
