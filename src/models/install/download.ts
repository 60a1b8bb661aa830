import { rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256OfFile } from '../installed-packs.ts'
import { partialDownloadAt } from './partial-download.ts'
import { PermanentDownloadError } from './permanent-download-error.ts'
import { transfer, type OnBytesReceived, type TransferLimits } from './transfer.ts'

export type DownloadRequest = {
  readonly url: string
  /** The file that it becomes; until it is whole and checked it is `<place>.part`. */
  readonly path: string
  /** null: whatever comes is taken. */
  readonly sha256: string | null
  readonly onProgress: OnBytesReceived
}

export type DownloadLimits = TransferLimits & {
  /** How often a cut connection is taken up again. */
  readonly resumesMax: number
  readonly resumeDelayMs: number
}

/** The largest embedder of the catalogue has 261 MB. */
export const downloadLimits: DownloadLimits = {
  bytesMax: 2 ** 30,
  idleMsMax: 30_000,
  resumesMax: 5,
  resumeDelayMs: 1_000,
}

/**
 * Fetches a file. When the connection is cut, it goes on where it stopped, in this run or a later
 * one, if the source can say that the file is still the same.
 *
 * @returns the sha256 of the file.
 * @throws Error that names the address; a file of another checksum than `sha256` is removed.
 */
export async function download(
  { url, path: place, sha256, onProgress }: DownloadRequest,
  limits: DownloadLimits = downloadLimits,
): Promise<string> {
  const part = partialDownloadAt(place)
  for (let resumes = 0; ; resumes++) {
    try {
      await transfer(url, part, { limits, onProgress })
      break
    } catch (error) {
      if (error instanceof PermanentDownloadError) await part.remove()
      if (error instanceof PermanentDownloadError || resumes >= limits.resumesMax)
        throw new Error(`cannot fetch ${url}: ${errorReasonOf(error)}`, { cause: error })
      await sleep(limits.resumeDelayMs)
    }
  }
  const found = await sha256OfFile(part.path)
  if (sha256 !== null && found !== sha256) {
    await part.remove()
    throw new Error(`${url} is not the file of the manifest (sha256 ${found}, expected ${sha256})`)
  }
  await rename(part.path, place)
  await rm(`${part.path}.json`, { force: true })
  return found
}

/** A failed fetch tells its reason in its cause. */
function errorReasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message
}
