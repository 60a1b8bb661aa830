import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { z } from 'zod'

/** An incomplete file, and its state: the URL and the validator of the complete file. */
export type PartialDownload = {
  readonly path: string
  /** Returns the received bytes of the file at `url` and its validator; 0 bytes for another URL. */
  readonly readState: (
    url: string,
  ) => Promise<{ readonly bytes: number; readonly validator: string }>
  /** Empties the file and stores the URL and the validator of the new download. */
  readonly start: (url: string, headers: Headers) => Promise<void>
  readonly remove: () => Promise<void>
}

const downloadState = z.strictObject({ url: z.string(), validator: z.string() })

/** The partial download of `filePath`: `<filePath>.part` and its state `<filePath>.part.json`. */
export function partialDownloadAt(filePath: string): PartialDownload {
  const partPath = `${filePath}.part`
  const statePath = `${partPath}.json`
  const remove = async (): Promise<void> => {
    await rm(partPath, { force: true })
    await rm(statePath, { force: true })
  }
  return {
    path: partPath,
    async readState(url) {
      try {
        const state = downloadState.parse(JSON.parse(await readFile(statePath, 'utf8')))
        if (state.url === url)
          return { bytes: (await stat(partPath)).size, validator: state.validator }
      } catch {
        // Without a readable state the download starts from the beginning.
      }
      return { bytes: 0, validator: '' }
    },
    async start(url, headers) {
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
