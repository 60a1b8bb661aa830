import type { Log } from '../lib/log.ts'
import type { ModelId } from './manifest.ts'

/**
 * Makes `folder` hold every file of the built-in pack, whole and right.
 *
 * Every product is checked by sha256; one that is missing or damaged is named in the log and
 * converted again from the installed packages.
 *
 * @throws when a source file is missing or is not the one that the manifest names.
 */
export declare function preparePack(options: {
  readonly folder: string
  readonly onProgress?: (progress: PackProgress) => void
  readonly log?: Pick<Log, 'info' | 'warn'>
}): Promise<void>

/** `done` of `total` models are in place, `id` the last of them. */
export type PackProgress = {
  readonly done: number
  readonly total: number
  readonly id: ModelId
  readonly what: 'converted' | 'verified'
}
