import { rename, rm } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { sha256OfFile } from '../installed.ts'
import { partOf } from './part.ts'
import { RefusedError } from './refused-error.ts'
import { transfer, type Progress, type TransferLimits } from './transfer.ts'

export type Download = {
  readonly url: string
  /** The file that it becomes; until it is whole and checked it is `<place>.part`. */
  readonly place: string
  /** null: whatever comes is taken. */
  readonly sha256: string | null
  readonly onProgress: Progress
}

export type DownloadLimits = TransferLimits & {
  /** How often a cut connection is taken up again. */
  readonly resumesMax: number
  readonly resumeWaitMs: number
}

/** The largest embedder of the catalogue has 261 MB. */
export const downloadLimits: DownloadLimits = {
  bytesMax: 2 ** 30,
  silenceMsMax: 30_000,
  resumesMax: 5,
  resumeWaitMs: 1_000,
}

/**
 * Fetches a file. When the connection is cut, it goes on where it stopped, in this run or a later
 * one, if the source can say that the file is still the same.
 *
 * @returns the sha256 of the file.
 * @throws Error that names the address; a file of another checksum than `sha256` is removed.
 */
export async function download(
  { url, place, sha256, onProgress }: Download,
  limits: DownloadLimits = downloadLimits,
): Promise<string> {
  const part = partOf(place)
  for (let resumes = 0; ; resumes++) {
    try {
      await transfer(url, part, { limits, onProgress })
      break
    } catch (error) {
      if (error instanceof RefusedError) await part.remove()
      if (error instanceof RefusedError || resumes >= limits.resumesMax)
        throw new Error(`cannot fetch ${url}: ${messageOf(error)}`, { cause: error })
      await sleep(limits.resumeWaitMs)
    }
  }
  const found = await sha256OfFile(part.place)
  if (sha256 !== null && found !== sha256) {
    await part.remove()
    throw new Error(`${url} is not the file of the manifest (sha256 ${found}, expected ${sha256})`)
  }
  await rename(part.place, place)
  await rm(`${part.place}.json`, { force: true })
  return found
}

/** A failed fetch tells its reason in its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}, ${error.cause.message}` : error.message
}
