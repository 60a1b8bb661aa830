/** The tables for search in the database. Only PostgreSQL with SEARCH=pgvector has them. */
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
  /** Null together with the embedding: the template cannot be decrypted and matches no probe. */
  readonly slack: number | null
  /** A `halfvec` with one dimension more than the model's embeddings. */
  readonly embedding: string | null
}

/** The number of templates, maintained by triggers. */
export type TemplateCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly templates: number
}

/** How many of them have a vector. */
export type VectorCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly vectors: number
}
