import { existsSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { sha256OfFile } from '../installed-packs.ts'
import { download, type DownloadLimits } from './download.ts'
import type { RequiredFile } from './required-files.ts'
import type { OnBytesReceived } from './transfer.ts'

export type FetchOptions = {
  /** A folder that is looked into for every file before it is fetched. */
  readonly filesFolder?: string | undefined
  readonly onProgress: (file: string, ...progress: Parameters<OnBytesReceived>) => void
  readonly limits?: DownloadLimits | undefined
}

/**
 * Puts a file into the staging folder, checked.
 *
 * @returns its sha256.
 * @throws Error that names the file or address, when it is not there or another one.
 */
export async function fetchFile(
  staging: string,
  { name, sourceName: called, sha256, source }: RequiredFile,
  { filesFolder, onProgress, limits }: FetchOptions,
): Promise<string> {
  const place = path.join(staging, name)
  const given = path.join(filesFolder ?? '', called)
  if (filesFolder !== undefined && existsSync(given)) return copyChecked(given, place, sha256)
  if (!source) throw new Error(`nobody says where ${called} is: name a folder that has it, --from`)
  if ('place' in source) return copyChecked(source.place, place, sha256)
  // The last run may have fetched this file and been cut off at the next one.
  if (sha256 !== null && existsSync(place) && (await sha256OfFile(place)) === sha256) return sha256
  const progress: OnBytesReceived = (done, total) => onProgress(called, done, total)
  return download({ url: source.url, path: place, sha256, onProgress: progress }, limits)
}

async function copyChecked(from: string, to: string, sha256: string | null): Promise<string> {
  await copyFile(from, to).catch((cause: unknown) => {
    throw new Error(`cannot read ${from}`, { cause })
  })
  const found = await sha256OfFile(to)
  if (sha256 === null || found === sha256) return found
  await rm(to)
  throw new Error(`${from} is not the file of the manifest (sha256 ${found}, expected ${sha256})`)
}
