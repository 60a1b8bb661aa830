import type { PackedChanges } from './index-change.ts'
import type { GalleryIndexQuery, GalleryIndexState } from './gallery-indexes.ts'
import type { ScoredSubject } from '../scored-subject.ts'

/** What the service asks of the thread that owns the index. */
export type IndexRequest =
  | { readonly kind: 'apply'; readonly galleryId: string; readonly packed: PackedChanges }
  | { readonly kind: 'search'; readonly galleryId: string; readonly query: GalleryIndexQuery }
  | { readonly kind: 'drop'; readonly galleryId: string }

/** Kind of request → what the thread answers. */
export type IndexResponses = {
  readonly apply: GalleryIndexState
  readonly search: readonly ScoredSubject[]
  readonly drop: void
}

export type RequestMessage = { readonly id: number; readonly request: IndexRequest }

export type ResponseMessage =
  | { readonly id: number; readonly value: IndexResponses[keyof IndexResponses] }
  | { readonly id: number; readonly error: unknown }

/** What each thread of the search is started with. */
export type SearchThreadData = {
  readonly memory: WebAssembly.Memory
  /** 0 is the thread that owns the index; the others help it to scan. */
  readonly threadIndex: number
  readonly helperCount: number
}
