import { Worker } from 'node:worker_threads'
import type { Store } from '../../../store/database.ts'
import { findFaceRangeEnd } from '../../../store/gallery/search/face-ranges.ts'
import { type PageRange, listPageRanges } from '../../../store/gallery/search/gallery-pages.ts'
import type { OpenThreadData, OpenThreadRequest, OpenThreadResponse } from './open-thread.ts'
import type { LoadRange } from './read-range.ts'

/** The faces that a load reads: those of a gallery up to a change. */
type LoadScope = Pick<LoadRange, 'galleryId' | 'accountId'> & {
  readonly sequence: number
  /** See `modelIdsOf`. */
  readonly modelIds: string
  /** Faces that are read at once where no page contains them, and the faces of a page. */
  readonly pageFaces: number
  readonly store: Pick<Store, 'read'>
}

/** Pages that a thread reads at once, about 1.2 MB. */
const pagesPerRange = 4
/** Page ranges that are listed at once. From a slow disk, each takes up to 0.3 ms of the event loop. */
const listedPages = 40

/** Yields the ranges of a gallery in their order: successive pages, and faces without a page. */
export async function* listLoadRanges(scope: LoadScope): AsyncGenerator<LoadRange, void> {
  const { galleryId, accountId, sequence } = scope
  const gallery = { galleryId, accountId }
  let after = 0
  for await (const { afterSequence, toSequence } of listSuccessivePages(scope)) {
    for await (const { to, isLarge } of listFaceRanges(scope, after, afterSequence)) {
      yield { ...gallery, after, to, hasPages: false, becomesPage: isLarge }
      after = to
    }
    const pages = { after: afterSequence, to: toSequence, hasPages: true, becomesPage: true }
    yield { ...gallery, ...pages }
    after = toSequence
  }
  // The last faces become a page when there are enough of them.
  for await (const { to, isFull } of listFaceRanges(scope, after, sequence)) {
    yield { ...gallery, after, to, hasPages: false, becomesPage: isFull }
    after = to
  }
}

/** Yields the ranges of pages; those of a few pages without a gap are joined. */
async function* listSuccessivePages(scope: LoadScope): AsyncGenerator<PageRange, void> {
  let first: PageRange | undefined
  let toSequence = 0
  let pages = 0
  for await (const page of listPages(scope)) {
    if (first && (page.afterSequence !== toSequence || pages === pagesPerRange)) {
      yield { afterSequence: first.afterSequence, toSequence }
      first = undefined
    }
    pages = first ? pages + 1 : 1
    first ??= page
    toSequence = page.toSequence
  }
  if (first) yield { afterSequence: first.afterSequence, toSequence }
}

async function* listPages({
  store,
  galleryId,
  modelIds,
  sequence,
}: LoadScope): AsyncGenerator<PageRange, void> {
  for (let after = 0; ;) {
    const filter = { galleryId, modelIds, after, limit: listedPages }
    const pages = await store.read((reading) => listPageRanges(reading, filter))
    for (const page of pages) if (page.toSequence <= sequence) yield page
    after = pages.at(-1)?.toSequence ?? after
    if (pages.length < listedPages) return
  }
}

async function* listFaceRanges(
  { store, galleryId, pageFaces }: LoadScope,
  from: number,
  sequenceMax: number,
) {
  const find = (after: number, faces: number, until: number) =>
    store.read((reading) =>
      findFaceRangeEnd(reading, { galleryId, after }, { faces, sequenceMax: until }),
    )
  for (let after = from; after < sequenceMax;) {
    const end = await find(after, pageFaces, sequenceMax)
    if (!end) return
    const { to, isFull } = end
    // A page of a few faces saves little time.
    const isLarge = isFull || (await find(after, Math.ceil(pageFaces / 4), to))?.isFull === true
    yield { to, isFull, isLarge }
    after = to
  }
}

/** A thread that reads and decrypts one range after another. */
export type OpenThread = AsyncDisposable & {
  /** @throws Error if the range cannot be read, or the thread ended. */
  readonly read: (range: LoadRange) => Promise<Extract<OpenThreadResponse, { content: unknown }>>
}

const threadFile = new URL('./open-thread.ts', import.meta.url)

export function startOpenThread(workerData: OpenThreadData): OpenThread {
  const worker = new Worker(threadFile, { name: 'template loading', workerData })
  let pending: PromiseWithResolvers<OpenThreadResponse> | undefined
  let endReason: unknown
  const ended = new Promise<void>((resolve) => worker.once('exit', () => resolve()))
  const end = (reason: unknown): void => {
    endReason ??= reason
    pending?.reject(endReason)
  }
  worker.on('error', end)
  worker.on('exit', (code) => end(new Error(`a loading thread exited with code ${code}`)))
  worker.on('message', (response: OpenThreadResponse) => pending?.resolve(response))
  const send = (request: OpenThreadRequest): void => worker.postMessage(request, [])
  return {
    read: async (range) => {
      if (endReason !== undefined) throw endReason
      pending = Promise.withResolvers()
      send({ range })
      const response = await pending.promise
      if ('error' in response) throw response.error
      return response
    },
    [Symbol.asyncDispose]: async () => {
      send({ range: undefined })
      await ended
    },
  }
}
