import type {
  AnalyzedFaceValue,
  AppearanceValue,
  CandidateValue,
  DetectedFaceValue,
  LivenessResultValue,
} from './action-values.ts'

/** One failure of a response. */
export type ResultProblem = {
  readonly code: string
  readonly message: string
  readonly path?: string | undefined
  readonly imageIndex?: number | undefined
  readonly hint?: string | undefined
  readonly subjectId?: string | undefined
}

/** A face of any response, with the fields that some actions add. */
export type ResponseFace = Pick<DetectedFaceValue, 'boundingBox'> &
  Partial<Omit<DetectedFaceValue, 'boundingBox' | 'quality'>> & {
    readonly quality?: AnalyzedFaceValue['quality'] | DetectedFaceValue['quality'] | undefined
    readonly candidates?: readonly CandidateValue[]
    readonly liveness?: LivenessResultValue | undefined
    readonly attributes?: AppearanceValue | undefined
    readonly suitableForEnrollment?: boolean
    readonly reasons?: AnalyzedFaceValue['reasons']
  }

/** The fields of a result from which faces are drawn. */
export type ResponseValue = {
  readonly faces?: readonly ResponseFace[]
  readonly face?: ResponseFace | null
  /** The pictures of one person that svc.enroll received. */
  readonly images?: readonly { readonly index: number; readonly face?: ResponseFace | undefined }[]
  /** A face of an image; the stored faces of a search without images. */
  readonly probe?: ResponseFace | { readonly faceIds: readonly string[] } | null
  readonly reference?: ResponseFace | null
  readonly matched?: boolean
  readonly similarity?: number
  readonly threshold?: number
  readonly decision?: string
  readonly warnings?: readonly string[]
  /** Only in an item that failed. */
  readonly error?: ResultProblem
}

export type ResultItem = {
  /** The position of the image in the call. */
  readonly index: number
  readonly ok: boolean
  readonly value: ResponseValue
}

/** The fields of a response envelope that the playground shows. */
export type ResultEnvelope = {
  readonly ok: boolean
  readonly errors?: readonly ResultProblem[]
  readonly data?: {
    readonly results: readonly ResultItem[]
    /** Of a call that was only checked. */
    readonly validation?: { readonly priceMicros: string }
  } | null
}
