import type { PackedRows } from '../load/packed-rows.ts'
import type { PackedChanges } from './index-change.ts'
import type { GalleryIndexQuery, GalleryIndexState, GalleryLoad } from './gallery-indexes.ts'
import type { ScoredSubject } from '../scored-subject.ts'

/** A request to the index thread. */
export type IndexRequest =
  | { readonly kind: 'apply'; readonly galleryId: string; readonly packed: PackedChanges }
  | {
      readonly kind: 'load'
      readonly galleryId: string
      readonly packed: readonly PackedRows[]
      readonly load: GalleryLoad
    }
  | { readonly kind: 'search'; readonly galleryId: string; readonly query: GalleryIndexQuery }
  | { readonly kind: 'drop'; readonly galleryId: string }

/** Kind of request → value of the response. */
export type IndexResponses = {
  readonly apply: GalleryIndexState
  readonly load: GalleryIndexState
  readonly search: readonly ScoredSubject[]
  readonly drop: void
}

export type RequestMessage = { readonly id: number; readonly request: IndexRequest }

export type ResponseMessage =
  | { readonly id: number; readonly value: IndexResponses[keyof IndexResponses] }
  | { readonly id: number; readonly error: unknown }

/** The start data of each search thread. */
export type SearchThreadData = {
  readonly memory: WebAssembly.Memory
  /** 0 is the index thread; the others help it to scan. */
  readonly threadIndex: number
  readonly helperCount: number
}
