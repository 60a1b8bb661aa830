import { rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256OfFile } from '../sha256.ts'
import {
  partialDownloadAt,
  transfer,
  type OnBytesReceived,
  type TransferLimits,
} from './transfer.ts'
import { PermanentDownloadError } from './check-url.ts'

export type DownloadRequest = {
  readonly url: string
  /** The final file. Until it is complete and checked, the data is in `<path>.part`. */
  readonly path: string
  /** null: every content is accepted. */
  readonly sha256: string | null
  readonly onProgress: OnBytesReceived
}

export type DownloadLimits = TransferLimits & {
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
