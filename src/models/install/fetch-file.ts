import { existsSync } from 'node:fs'
import { copyFile, open, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { z } from 'zod'
import { sha256OfFile } from '../sha256.ts'
import { PermanentDownloadError, checkUrl } from './check-url.ts'
import type { RequiredFile } from './required-files.ts'

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

/** Copies a model file. @returns its checksum. @throws Error unless it is a file with this checksum. */
export async function copyChecked(from: string, to: string, sha256: string | null) {
  // The copy of a device or a pipe may never end, and that of a sparse file fills the disk.
  const file = await stat(from).catch(() => undefined)
  if (file && (!file.isFile() || file.size > downloadLimits.bytesMax))
    throw new Error(`${from} is not a file of at most ${downloadLimits.bytesMax} bytes`)
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

type TransferLimits = {
  readonly bytesMax: number
  /** Maximum time until the response starts, and between two chunks of it, ms. */
  readonly idleMsMax: number
}

/** `total` is null when the source does not send a length. */
type OnBytesReceived = (received: number, total: number | null) => void

/**
 * Fetches the missing rest of the file at `url` and appends it to the partial download. Starts from
 * the beginning when the file has changed, or when the source cannot send a range.
 *
 * @throws PermanentDownloadError when a retry cannot succeed; Error when the connection was
 *   interrupted: then the partial download contains the bytes received so far.
 */
async function transfer(
  url: string,
  part: PartialDownload,
  options: { readonly limits: TransferLimits; readonly onProgress: OnBytesReceived },
): Promise<void> {
  const { limits, onProgress } = options
  const idleAbort = new AbortController()
  const idleTimer = setTimeout(() => idleAbort.abort(), limits.idleMsMax)
  try {
    const state = await part.readState(url)
    const response = await requestRange(url, state, idleAbort.signal)
    if (response.status === 416) await part.remove()
    const offset = responseOffset(response, state.bytes)
    // A compressed response has another length, and its parts cannot be resumed.
    const isCompressed = response.headers.has('content-encoding')
    if (offset === 0) await part.start(url, isCompressed ? new Headers() : response.headers)
    const length = isCompressed ? null : response.headers.get('content-length')
    const total = length === null ? null : offset + Number(length)
    if (total !== null && total > limits.bytesMax) throw tooLargeError(url, limits)
    await using file = await open(part.path, 'a')
    let received = offset
    for await (const chunk of response.body ?? []) {
      idleTimer.refresh()
      received += chunk.length
      if (received > limits.bytesMax) throw tooLargeError(url, limits)
      await file.appendFile(chunk)
      onProgress(received, total)
    }
    if (total !== null && received < total)
      throw new Error(`${url} ended at byte ${received} of ${total}`)
    await file.sync()
  } catch (error) {
    if (!idleAbort.signal.aborted) throw error
    throw new Error(`${url} sent no data for ${limits.idleMsMax} ms`, { cause: error })
  } finally {
    clearTimeout(idleTimer)
  }
}

const redirectsMax = 5

/** Follows redirects itself, because every hop must pass `checkUrl`. */
async function requestRange(
  url: string,
  state: { readonly bytes: number; readonly validator: string },
  signal: AbortSignal,
): Promise<Response> {
  const resume = { range: `bytes=${state.bytes}-`, 'if-range': state.validator }
  // A compressed response would contain other bytes than the ones that are counted and resumed.
  const headers = { 'accept-encoding': 'identity', ...(state.bytes > 0 && resume) }
  let hopUrl = checkUrl(new URL(url))
  for (let hop = 0; hop <= redirectsMax; hop++) {
    const response = await fetch(hopUrl, { redirect: 'manual', headers, signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) return response
    await response.body?.cancel()
    const next = new URL(location, hopUrl)
    if (hopUrl.protocol === 'https:' && next.protocol !== 'https:')
      throw new PermanentDownloadError(`${url} redirects from HTTPS to HTTP at ${next.origin}`)
    hopUrl = checkUrl(next)
  }
  throw new PermanentDownloadError(`${url} was redirected more than ${redirectsMax} times`)
}

/**
 * Returns the offset of the response in the file.
 *
 * @throws PermanentDownloadError when the response is not a file; Error when a retry may succeed.
 */
function responseOffset(response: Response, receivedBytes: number): number {
  if (response.status === 200) return 0
  const range = /^bytes (\d+)-/u.exec(response.headers.get('content-range') ?? '')
  if (response.status === 206 && receivedBytes > 0 && Number(range?.[1]) === receivedBytes)
    return receivedBytes
  const message = `${response.url} returned HTTP ${response.status} ${response.statusText}`.trim()
  // Server errors, rate limits, and a range that does not (or no longer does) fit the file.
  if (response.status >= 500 || [429, 416].includes(response.status)) throw new Error(message)
  throw new PermanentDownloadError(message)
}

function tooLargeError(url: string, { bytesMax }: TransferLimits): PermanentDownloadError {
  return new PermanentDownloadError(`${url} is larger than ${bytesMax} bytes`)
}

/** An incomplete file, and its state: the URL and the validator of the complete file. */
type PartialDownload = ReturnType<typeof partialDownloadAt>

const downloadState = z.strictObject({ url: z.string(), validator: z.string() })

/** The partial download of `filePath`: `<filePath>.part` and its state `<filePath>.part.json`. */
function partialDownloadAt(filePath: string) {
  const partPath = `${filePath}.part`
  const statePath = `${partPath}.json`
  const remove = async (): Promise<void> => {
    await rm(partPath, { force: true })
    await rm(statePath, { force: true })
  }
  return {
    path: partPath,
    /**
     * Returns the received bytes of the file at `url` and its validator; 0 bytes for another URL.
     */
    async readState(url: string): Promise<{ readonly bytes: number; readonly validator: string }> {
      try {
        const state = downloadState.parse(JSON.parse(await readFile(statePath, 'utf8')))
        if (state.url === url)
          return { bytes: (await stat(partPath)).size, validator: state.validator }
      } catch {
        // Without a readable state the download starts from the beginning.
      }
      return { bytes: 0, validator: '' }
    },
    /** Empties the file and stores the URL and the validator of the new download. */
    async start(url: string, headers: Headers): Promise<void> {
      await remove()
      await writeFile(partPath, '')
      const etag = headers.get('etag')
      // A weak ETag confirms the meaning, not the bytes, so it cannot be used to resume.
      const validator = etag?.startsWith('"') ? etag : headers.get('last-modified')
      if (validator) await writeFile(statePath, JSON.stringify({ url, validator }))
    },
    remove,
  }
}
