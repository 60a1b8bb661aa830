import type { PackedChanges } from './change.ts'
import type { GalleryQuestion, GalleryState } from './galleries.ts'
import type { Candidate } from './candidate.ts'

/** What the service asks of the thread that owns the index. */
export type Request =
  | { readonly kind: 'apply'; readonly galleryId: string; readonly packed: PackedChanges }
  | { readonly kind: 'search'; readonly galleryId: string; readonly question: GalleryQuestion }
  | { readonly kind: 'drop'; readonly galleryId: string }

/** Kind of request → what the thread answers. */
export type Answers = {
  readonly apply: GalleryState
  readonly search: readonly Candidate[]
  readonly drop: void
}

export type Asked = { readonly id: number; readonly request: Request }

export type Answered =
  | { readonly id: number; readonly value: Answers[keyof Answers] }
  | { readonly id: number; readonly error: unknown }

/** What each thread of the search is started with. */
export type ThreadStart = {
  readonly memory: WebAssembly.Memory
  /** 0 is the thread that owns the index; the others help it to scan. */
  readonly seat: number
  readonly assistants: number
}
