import { createHmac } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { ActionError } from '../../lib/errors.ts'

/** Rejects images that repeatedly crashed a worker. */
export type CrashQuarantine = {
  /** Records that a worker crashed while it processed this image (base64). */
  readonly recordCrash: (image: string) => void
  /**
   * Throws if the image has reached the limit of crashes.
   *
   * @param path JSON path of the image in the API request, for the message.
   * @throws ActionError INVALID_REQUEST
   */
  readonly assertNotQuarantined: (image: string, path: string) => void
  /** Number of rejected images since the start. */
  readonly rejectedCount: () => number
}

export type CrashQuarantineOptions = {
  /** The number of crashes from which on an image is rejected. */
  readonly crashesMax: number
  /** An image is accepted again this long after its last crash. */
  readonly retentionMs: number
  /** 32 random bytes. Only keyed hashes of images are kept, so records reveal no image. */
  readonly key: Uint8Array
  readonly clock: Clock
}

type CrashRecord = {
  readonly crashes: number
  readonly lastCrashMs: number
  readonly length: number
}

/** With more records than this, the oldest is deleted. A record takes about 100 bytes. */
const crashRecordsMax = 1_000

export function createCrashQuarantine(options: CrashQuarantineOptions): CrashQuarantine {
  const { crashesMax, retentionMs, key, clock } = options
  // Ordered by the last crash, oldest first.
  const records = new Map<string, CrashRecord>()
  let rejectedCount = 0
  const fingerprint = (image: string) => createHmac('sha256', key).update(image).digest('base64')

  function deleteOldRecords(): void {
    for (const [name, { lastCrashMs }] of records)
      if (records.size > crashRecordsMax || clock() - lastCrashMs >= retentionMs)
        records.delete(name)
  }

  function recordCrash(image: string): void {
    deleteOldRecords()
    const name = fingerprint(image)
    const crashes = (records.get(name)?.crashes ?? 0) + 1
    records.delete(name)
    records.set(name, { crashes, lastCrashMs: clock(), length: image.length })
    deleteOldRecords()
  }

  function isQuarantined(image: string): boolean {
    deleteOldRecords()
    // Hashing 8 MiB blocks the server for milliseconds. Comparing the length first avoids the hash
    // for almost every harmless image.
    const mayMatch = [...records.values()].some(
      ({ crashes, length }) => crashes >= crashesMax && length === image.length,
    )
    return mayMatch && (records.get(fingerprint(image))?.crashes ?? 0) >= crashesMax
  }

  function assertNotQuarantined(image: string, path: string): void {
    if (!isQuarantined(image)) return
    rejectedCount += 1
    throw new ActionError(
      'INVALID_REQUEST',
      `${path}: this image crashed the decoder ${crashesMax} times and is temporarily rejected`,
    )
  }

  return { recordCrash, assertNotQuarantined, rejectedCount: () => rejectedCount }
}
