import { createHmac } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { ActionError, unavailable } from '../../lib/errors.ts'
import type { EncodedImage } from '../image/input/encoded-image.ts'

/**
 * An image of a call, the API key of the call, and the JSON path of the image for messages. Images that
 * the server or a command analyzes have no key.
 */
type AnalyzedImage = {
  readonly image: EncodedImage
  readonly keyId?: string | undefined
  readonly path: string
}

/** Rejects images that repeatedly crashed a worker, and changed copies of them. */
export type CrashQuarantine = ReturnType<typeof createCrashQuarantine>

export type CrashQuarantineOptions = {
  /** The number of crashes from which on an image is rejected. */
  readonly crashesMax: number
  /** The number of crashes from which on images of one key and kind are rejected. */
  readonly kindCrashesMax: number
  /**
   * How long they are rejected after the last crash. Each further crash doubles the time, up to
   * `retentionMs`. It begins short, because the crashes can be timeouts of an overloaded machine.
   */
  readonly kindPauseMs: number
  /** An image is accepted again this long after its last crash. */
  readonly retentionMs: number
  /** 32 random bytes. Only keyed hashes of images are kept, so records reveal no image. */
  readonly key: Uint8Array
  readonly clock: Clock
}

type CrashRecord = {
  readonly crashes: number
  readonly lastCrashMs: number
  /** The base64 characters of the image of the last crash. */
  readonly length: number
}

/** With more records than this, the oldest is deleted. A record takes about 100 bytes. */
const crashRecordsMax = 1_000

export function createCrashQuarantine(options: CrashQuarantineOptions) {
  const { crashesMax, kindCrashesMax, kindPauseMs, retentionMs, key, clock } = options
  // Of images, by their fingerprint, and of kinds. Ordered by the last crash, oldest first.
  const records = new Map<string, CrashRecord>()
  let rejectedCount = 0
  const fingerprint = ({ bytes }: EncodedImage) =>
    createHmac('sha256', key).update(bytes).digest('base64')

  function deleteOldRecords(): void {
    for (const [name, { lastCrashMs }] of records)
      if (records.size > crashRecordsMax || clock() - lastCrashMs >= retentionMs)
        records.delete(name)
  }

  function addCrash(name: string, { bytes }: EncodedImage): void {
    deleteOldRecords()
    const crashes = (records.get(name)?.crashes ?? 0) + 1
    records.delete(name)
    records.set(name, { crashes, lastCrashMs: clock(), length: bytes.length })
    deleteOldRecords()
  }

  /** Records that a worker crashed while it processed this image. */
  function recordCrash({ image, keyId }: Omit<AnalyzedImage, 'path'>): void {
    addCrash(fingerprint(image), image)
    if (keyId !== undefined) addCrash(kindOf(image, keyId), image)
  }

  function isQuarantined(image: EncodedImage): boolean {
    // Hashing 8 MiB blocks the server for milliseconds. Comparing the length first avoids the hash
    // for almost every harmless image.
    const mayMatch = [...records.values()].some(
      ({ crashes, length }) => crashes >= crashesMax && length === image.bytes.length,
    )
    return mayMatch && (records.get(fingerprint(image))?.crashes ?? 0) >= crashesMax
  }

  /** Returns the rest of the time for which images of this kind are rejected; 0 if they are not. */
  function kindPauseLeftMs(image: EncodedImage, keyId = ''): number {
    const { crashes = 0, lastCrashMs = 0 } = records.get(kindOf(image, keyId)) ?? {}
    if (crashes < kindCrashesMax) return 0
    const pauseMs = Math.min(retentionMs, kindPauseMs * 2 ** (crashes - kindCrashesMax))
    return Math.max(0, lastCrashMs + pauseMs - clock())
  }

  /**
   * Throws if the image has reached the limit of crashes, or if images of the same kind from the same
   * key have.
   *
   * @throws ActionError INVALID_REQUEST for the image itself.
   * @throws HttpError 503 for an image of the same kind, which may be harmless.
   */
  function assertNotQuarantined({ image, keyId, path }: AnalyzedImage): void {
    deleteOldRecords()
    const isKnown = isQuarantined(image)
    const pauseMs = kindPauseLeftMs(image, keyId)
    if (!isKnown && pauseMs === 0) return
    rejectedCount += 1
    throw isKnown ? rejectImage(path, crashesMax) : rejectKind(pauseMs, kindCrashesMax)
  }

  return {
    recordCrash,
    assertNotQuarantined,
    /** Number of rejected images since the start. */
    rejectedCount: () => rejectedCount,
  }
}

function rejectImage(path: string, crashes: number): ActionError {
  const message = `${path}: this image crashed the decoder ${crashes} times and is temporarily rejected`
  return new ActionError('INVALID_REQUEST', message)
}

function rejectKind(pauseMs: number, crashes: number): Error {
  const detail = `images of this type and size from this API key crashed the decoder ${crashes} times or more`
  return unavailable(detail, Math.ceil(pauseMs / 1000))
}

/**
 * Returns the key, the type and the class of size of an image: each class ends at 16 times the size of
 * the one before. A changed byte, or bytes after the image, rarely change the kind.
 */
function kindOf({ bytes, contentType }: EncodedImage, keyId: string): string {
  return `${keyId} ${contentType} ${Math.floor(Math.log2(bytes.length + 1) / 4)}`
}
