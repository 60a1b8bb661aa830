import { existsSync } from 'node:fs'
import { copyFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { sha256OfFile } from '../sha256.ts'
import { download, type DownloadLimits } from './download.ts'
import type { RequiredFile } from './required-files.ts'
import type { OnBytesReceived } from './transfer.ts'

export type FetchOptions = {
  /** A folder that is searched for every file before the file is downloaded. */
  readonly filesFolder?: string | undefined
  readonly onProgress: (file: string, ...progress: Parameters<OnBytesReceived>) => void
  readonly limits?: DownloadLimits | undefined
}

/**
 * Copies or downloads a file into the staging folder and checks it.
 *
 * @returns its SHA-256.
 * @throws Error that names the file or URL when it is missing or has another checksum.
 */
export async function fetchFile(
  staging: string,
  { name, sourceName, sha256, source }: RequiredFile,
  { filesFolder, onProgress, limits }: FetchOptions,
): Promise<string> {
  const stagedPath = path.join(staging, name)
  const localPath = path.join(filesFolder ?? '', sourceName)
  if (filesFolder !== undefined && existsSync(localPath))
    return copyChecked(localPath, stagedPath, sha256)
  if (!source)
    throw new Error(
      `${sourceName} has no download address: pass --from with the folder that contains it`,
    )
  if ('path' in source) return copyChecked(source.path, stagedPath, sha256)
  // An interrupted run may have completed this file before it failed at a later one.
  if (sha256 !== null && existsSync(stagedPath) && (await sha256OfFile(stagedPath)) === sha256)
    return sha256
  const reportProgress: OnBytesReceived = (received, total) =>
    onProgress(sourceName, received, total)
  const request = { url: source.url, path: stagedPath, sha256, onProgress: reportProgress }
  return download(request, limits).catch((cause: Error) => {
    const searched = filesFolder === undefined ? '' : `${sourceName} is not in ${filesFolder}; `
    const remedy = `download ${sourceName} on another machine and pass its folder with --from`
    throw new Error(`${searched}${cause.message}; ${remedy}`, { cause })
  })
}

async function copyChecked(from: string, to: string, sha256: string | null): Promise<string> {
  await copyFile(from, to).catch((cause: unknown) => {
    throw new Error(`cannot read ${from}`, { cause })
  })
  const actual = await sha256OfFile(to)
  if (sha256 === null || actual === sha256) return actual
  await rm(to)
  throw new Error(
    `${from} does not match the checksum in the manifest (sha256 ${actual}, expected ${sha256})`,
  )
}
