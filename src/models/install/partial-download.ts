import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { z } from 'zod'

/** A file that has not wholly come yet, and the note of what it is a part of. */
export type PartialDownload = {
  readonly path: string
  /** What is there of the file at `url`, and the validator of that file; nothing of another. */
  readonly readState: (
    url: string,
  ) => Promise<{ readonly bytes: number; readonly validator: string }>
  /** Empties it, and notes what it is going to be a part of. */
  readonly start: (url: string, headers: Headers) => Promise<void>
  readonly remove: () => Promise<void>
}

const downloadState = z.strictObject({ url: z.string(), validator: z.string() })

/** The part of what is to lie at `place`: `<place>.part` and its note `<place>.part.json`. */
export function partialDownloadAt(place: string): PartialDownload {
  const part = `${place}.part`
  const notePlace = `${part}.json`
  const remove = async (): Promise<void> => {
    await rm(part, { force: true })
    await rm(notePlace, { force: true })
  }
  return {
    path: part,
    async readState(url) {
      try {
        const noted = downloadState.parse(JSON.parse(await readFile(notePlace, 'utf8')))
        if (noted.url === url) return { bytes: (await stat(part)).size, validator: noted.validator }
      } catch {
        // No part, or no note of it: as good as nothing.
      }
      return { bytes: 0, validator: '' }
    },
    async start(url, headers) {
      await remove()
      await writeFile(part, '')
      const etag = headers.get('etag')
      // A weak tag vouches for the meaning, not for the bytes: one cannot continue by it.
      const validator = etag?.startsWith('"') ? etag : headers.get('last-modified')
      if (validator) await writeFile(notePlace, JSON.stringify({ url, validator }))
    },
    remove,
  }
}
