/** A face as a vector. Only templates of the same model can be compared. Biometric data. */
export type Template = {
  /** "model@version". */
  readonly modelId: string
  /** The smaller the Euclidean distance between two vectors, the more similar the faces. */
  readonly vector: Float32Array
  /**
   * How close the vectors of other people are, ≤ 0: the mean of the best scores (−distance²)
   * against a cohort.
   */
  readonly density: number
}

/** The vector of one of the networks that a template combines. Biometric data. */
export type QuickTemplate = {
  /** "id@version" of the network. */
  readonly modelId: string
  readonly vector: Float32Array
}
