import { createHmac } from 'node:crypto'

import type { Clock } from '../../lib/clock.ts'
import { ActionError } from '../../lib/errors.ts'

/** Remembers which pictures were in a worker when it died. */
export type CrashQuarantine = {
  /** Notes that a worker died over this picture (base64). */
  readonly recordCrash: (picture: string) => void
  /**
   * Refuses a picture that has killed so many workers that no other may see it.
   *
   * @param path JSON path of the picture in the request, for the message.
   * @throws ActionError INVALID_REQUEST
   */
  readonly assertNotQuarantined: (picture: string, path: string) => void
  /** Refusals since the start. */
  readonly rejectedCount: () => number
}

export type CrashQuarantineOptions = {
  /** Kills from which on a picture is poison. */
  readonly crashesMax: number
  /** A picture that has killed nobody for so long is forgotten. */
  readonly retentionMs: number
  /** 32 random bytes: without them, what is remembered says nothing about any picture. */
  readonly key: Uint8Array
  readonly clock: Clock
}

type CrashRecord = {
  readonly crashes: number
  readonly lastCrashMs: number
  readonly length: number
}

/** Beyond this the oldest suspect is forgotten; some 100 bytes each. */
const crashRecordsMax = 1_000

export function createCrashQuarantine(options: CrashQuarantineOptions): CrashQuarantine {
  const { crashesMax: killsMax, retentionMs: memoryMs, key, clock } = options
  // In the order of their last kill, oldest first.
  const suspects = new Map<string, CrashRecord>()
  let refusedCount = 0
  const fingerprint = (picture: string) =>
    createHmac('sha256', key).update(picture).digest('base64')

  function forgetOld(): void {
    for (const [name, { lastCrashMs: lastKillMs }] of suspects)
      if (suspects.size > crashRecordsMax || clock() - lastKillMs >= memoryMs) suspects.delete(name)
  }

  function strike(picture: string): void {
    forgetOld()
    const name = fingerprint(picture)
    const kills = (suspects.get(name)?.crashes ?? 0) + 1
    suspects.delete(name)
    suspects.set(name, { crashes: kills, lastCrashMs: clock(), length: picture.length })
    forgetOld()
  }

  function isPoison(picture: string): boolean {
    forgetOld()
    // To hash 8 MiB takes milliseconds that nobody else is served in, so the length comes first:
    // an innocent picture is hardly ever hashed.
    const mayBe = [...suspects.values()].some(
      ({ crashes: kills, length }) => kills >= killsMax && length === picture.length,
    )
    return mayBe && (suspects.get(fingerprint(picture))?.crashes ?? 0) >= killsMax
  }

  function refuse(picture: string, path: string): void {
    if (!isPoison(picture)) return
    refusedCount += 1
    throw new ActionError(
      'INVALID_REQUEST',
      `${path}: this image stopped the decoder ${killsMax} times and is refused for a while`,
    )
  }

  return { recordCrash: strike, assertNotQuarantined: refuse, rejectedCount: () => refusedCount }
}
