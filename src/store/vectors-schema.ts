/** The tables for search in the database. Only PostgreSQL with SEARCH=pgvector has them. */
export type VectorsSchema = {
  vectors: VectorRow
  templateCounts: TemplateCountRow
}

/** A subject as the database searches it, see `gallery/search/database/augmented-vector.ts`. */
export type VectorRow = {
  readonly galleryId: string
  readonly subjectId: string
  /** The model of the templates that the vector was merged from: all of the subject by this model. */
  readonly modelId: string
  /** Whether the templates have changed since the vector was computed. It then has no embedding. */
  readonly isStale: boolean
  /** Null together with the embedding. */
  readonly slack: number | null
  /**
   * A `halfvec` with one dimension more than the model's embeddings; null if it is stale, or no
   * template can be decrypted. It then matches no probe.
   */
  readonly embedding: string | null
}

/** The number of templates, maintained by triggers. */
export type TemplateCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly templates: number
}
