import { existsSync } from 'node:fs'
import { copyFile, rm, rename } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256OfFile } from '../sha256.ts'
import { PermanentDownloadError } from './check-url.ts'
import type { RequiredFile } from './required-files.ts'
import { partialDownloadAt, transfer } from './transfer.ts'
import type { OnBytesReceived, TransferLimits } from './transfer.ts'

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

type DownloadRequest = {
  readonly url: string
  /** The final file. Until it is complete and checked, the data is in `<path>.part`. */
  readonly path: string
  /** null: every content is accepted. */
  readonly sha256: string | null
  readonly onProgress: OnBytesReceived
}

type DownloadLimits = TransferLimits & {
  /** Maximum number of times that an interrupted download is resumed. */
  readonly resumesMax: number
  readonly resumeDelayMs: number
}

/** The largest recognizer of the catalogue has 261 MB. */
export const downloadLimits: DownloadLimits = {
  bytesMax: 2 ** 30,
  idleMsMax: 30_000,
  resumesMax: 5,
  resumeDelayMs: 1_000,
}

/**
 * Downloads a file. An interrupted download is resumed, in this run or a later one, when the server
 * can confirm that the file has not changed.
 *
 * @returns the SHA-256 of the file.
 * @throws Error that names the URL. A file with another checksum than `sha256` is deleted.
 */
export async function download(
  { url, path: filePath, sha256, onProgress }: DownloadRequest,
  limits: DownloadLimits = downloadLimits,
): Promise<string> {
  const part = partialDownloadAt(filePath)
  for (let resumes = 0; ; resumes++) {
    try {
      await transfer(url, part, { limits, onProgress })
      break
    } catch (error) {
      if (error instanceof PermanentDownloadError) await part.remove()
      if (error instanceof PermanentDownloadError || resumes >= limits.resumesMax)
        throw new Error(`cannot download ${url}: ${errorReasonOf(error)}`, { cause: error })
      await sleep(limits.resumeDelayMs)
    }
  }
  const actual = await sha256OfFile(part.path)
  if (sha256 !== null && actual !== sha256) {
    await part.remove()
    throw new Error(
      `${url} does not match the checksum in the manifest (sha256 ${actual}, expected ${sha256})`,
    )
  }
  await rename(part.path, filePath)
  await rm(`${part.path}.json`, { force: true })
  return actual
}

/** The message, and the message of the cause: a failed fetch has its reason in the cause. */
function errorReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message
}
