/** The tables for search in the database. Only PostgreSQL with SEARCH=pgvector has them. */
export type VectorsSchema = {
  vectors: VectorRow
  templateCounts: TemplateCountRow
  vectorCounts: VectorCountRow
}

/** A template in the form that the database searches, see `gallery/search/database/`. */
export type VectorRow = {
  readonly galleryId: string
  readonly faceId: string
  readonly modelId: string
  readonly subjectId: string
  /** The gallery key from which the vector's rotation is derived; null: not rotated. */
  readonly space: string | null
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

/** The number of vectors in each space, maintained by triggers; '' means not rotated. */
export type VectorCountRow = {
  readonly galleryId: string
  readonly modelId: string
  readonly space: string
  readonly vectors: number
}
