/** Tables of the search in the database: only PostgreSQL has them, where SEARCH=pgvector was used. */
export type VectorsSchema = {
  vectors: VectorRow
  templateCounts: TemplateCountRow
  vectorCounts: VectorCountRow
}

/** A template as the database searches it, see `gallery/search/database/augmented-vector.ts`. */
export type VectorRow = {
  readonly galleryId: string
  readonly faceId: string
  readonly modelId: string
  readonly subjectId: string
  /** Null; vectors of earlier versions have the key that their obfuscation was derived from. */
  readonly space: string | null
  /** Null with the embedding: the template does not open, and matches nobody. */
  readonly slack: number | null
  /** `halfvec`; its dimensions are the model's and one. */
  readonly embedding: string | null
}

/** How many templates there are. Triggers count. */
export type TemplateCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly templates: number
}

/** How many of them have a vector, by its space; '' stands for null. */
export type VectorCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly space: string
  readonly vectors: number
}
