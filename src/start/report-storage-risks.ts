import { statSync } from 'node:fs'
import path from 'node:path'
import type { Config } from '../config.ts'
import { masterKeyPath } from './store-location.ts'

/** The bits of a folder's mode: its files can be deleted by all users, or only by their owners. */
const writableByOthers = 0o002
const sticky = 0o1000

type RiskLog = Readonly<Record<'info' | 'warn', (fields: object, text: string) => void>>

/**
 * Logs a master key in the folder of the database, and the folders of both that all users may write.
 * Such folders do not prevent the start: their files are private, and volumes of containers often have
 * this mode.
 */
export function reportStorageRisks(config: Config, log: RiskLog): void {
  const masterKeyFile = path.resolve(masterKeyPath(config))
  const keyFolder = path.dirname(masterKeyFile)
  const dataFolder = config.DATABASE_URL === '' ? path.resolve(config.DATA_DIR) : keyFolder
  if (config.DATABASE_URL === '' && keyFolder === dataFolder)
    log.info(
      { masterKeyFile },
      'the master key is beside the database: a copy of the folder contains both; see MASTER_KEY_FILE',
    )
  for (const folder of new Set([dataFolder, keyFolder]))
    if (isWritableByOthers(folder))
      log.warn({ folder }, `others may replace the files of this folder: run chmod 700 ${folder}`)
}

function isWritableByOthers(folder: string): boolean {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode ?? 0
  return process.platform !== 'win32' && (mode & (writableByOthers | sticky)) === writableByOthers
}
