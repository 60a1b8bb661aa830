// Written by `npm run contract` from the schemas of the service: change those instead.
// oxlint-disable max-lines -- one file for the whole contract

export interface AnalyzeParams {
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** What to return in addition to box, pose, score and reasons, which are always included: the quality components, the landmarks, the occlusion, the portrait checks, and the results of svc.liveness and svc.attributes for every face. Default ["quality","pose","landmarks","occlusion"]. */
  readonly features?: readonly ('quality' | 'pose' | 'landmarks' | 'occlusion' | 'portrait' | 'liveness' | 'attributes')[] | undefined
  /** 1..100. Default 10. */
  readonly maxFaces?: number | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface ImageItem {
  readonly kind: 'image'
  /** Base64 (RFC 4648 section 4, padded) of a JPEG or PNG of at most 8 MiB. */
  readonly bytes: string
  readonly contentType: 'image/jpeg' | 'image/jpg' | 'image/png'
  /** Returned with the result; `auto-<index>` if absent. At most 128 characters. */
  readonly correlationId?: string | undefined
}

export interface AnalyzeValue {
  /** Number of faces, including those beyond maxFaces. */
  faceCount: number
  image: {
    /** Pixels of the upright image. */
    width: number
    height: number
    /** Whether an EXIF orientation rotated or mirrored the image. */
    orientationApplied: boolean
    /** 0..100. */
    brightness: number
    /** 0..100. */
    sharpness: number
  }
  faces: AnalyzedFace[]
  portrait?: Portrait | undefined
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface AnalyzedFace {
  faceIndex: number
  /** Whole pixels of the upright image, origin top-left. */
  boundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** The same box as fractions of the image width and height. */
  relativeBoundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** Detection confidence. 0..1. */
  confidence: number
  /** Pixels of the upright image; left and right as in the image. */
  landmarks?: {
    leftEye: Point
    rightEye: Point
    noseTip: Point
    leftMouth: Point
    rightMouth: Point
  } | undefined
  pose: {
    /** Degrees; above 0 the nose points to image right. */
    yaw: number
    /** Degrees; above 0 the nose points up. */
    pitch: number
    /** Degrees; above 0 the head leans to image right. */
    roll: number
  }
  quality: {
    /** 0..100. */
    score: number
    /** low below 40, medium from 40, high from 70. */
    level: 'low' | 'medium' | 'high'
    components?: QualityComponents | undefined
  }
  /** The probability that something covers this part; left and right as in the image. */
  occlusion?: {
    /** 0..1. */
    leftEye: number
    /** 0..1. */
    rightEye: number
    /** 0..1. */
    lowerFace: number
  } | undefined
  /** Whether svc.enroll with its default parameters would accept this face. */
  suitableForEnrollment: boolean
  /** Defects of the face. A suitable face can have some. */
  reasons: ('EXTREME_POSE' | 'LOW_BRIGHTNESS' | 'HIGH_BRIGHTNESS' | 'LOW_SHARPNESS' | 'LOW_CONTRAST' | 'LOW_CONFIDENCE' | 'FACE_TOO_SMALL' | 'FACE_CUT_OFF' | 'FACE_OCCLUDED' | 'EYES_CLOSED' | 'MOUTH_OPEN' | 'MULTIPLE_FACES')[]
  liveness?: LivenessJudgement | undefined
  attributes?: Appearance | undefined
  /** Requested but not returned: there is no model for it, the project has disabled it, or that part of the face is covered. */
  unavailable?: ('age' | 'gender' | 'expression' | 'eyesOpen' | 'mouthOpen' | 'glasses' | 'mask')[] | undefined
}

export interface Point {
  x: number
  y: number
}

export interface QualityComponents {
  /** 0..100. */
  sharpness: number
  /** 0..100. */
  brightness: number
  /** 0..100. */
  contrast: number
  /** 0..100. */
  exposure: number
  /** 0..100. */
  faceSize: number
  /** 0..100. */
  headPose: number
  /** 0..100. */
  eyesOpen: number
  /** 0..100. */
  mouthClosed: number
  /** 0..100. */
  occlusion: number
}

export interface LivenessJudgement {
  /** Passive, from one image. It detects prints and screens, not masks, deep fakes or injected images. A spoof is a result, not an error. */
  decision: 'live' | 'spoof' | 'uncertain'
  /** True only for the decision `live`. */
  live: boolean
  /** The higher the score, the more probable is a live person. 0..1. */
  score: number
  /** Scores from this value are live. 0..1. */
  threshold: number
  /** Why the decision is uncertain. LOW_QUALITY: the quality or the content of the image is not sufficient for a decision. For a spoof, MULTIPLE_FACES only reports that the image contains other faces. */
  reasons: ('FACE_TOO_SMALL' | 'FACE_TOO_CLOSE_TO_EDGE' | 'EXTREME_POSE' | 'LOW_QUALITY' | 'MULTIPLE_FACES')[]
}

export interface Appearance {
  /** Years. `low` and `high` are chosen so that the age of 80 % of people is between them. */
  age?: {
    value: number
    low: number
    high: number
  } | undefined
  /** The appearance of the face to a model, not the gender of the person. */
  gender?: {
    value: 'male' | 'female'
    /** 0..1. */
    confidence: number
  } | undefined
  /** The expression of the face, not the emotion of the person. */
  expression?: {
    value: 'neutral' | 'happy' | 'sad' | 'angry' | 'fearful' | 'disgusted' | 'surprised'
    /** 0..1. */
    confidence: number
    /** All seven expressions; the scores sum to 1. */
    scores: { [key: string]: number }
  } | undefined
  /** Open from 0.5; left and right as in the image. */
  eyesOpen?: {
    /** 0..1. */
    left: number
    /** 0..1. */
    right: number
  } | undefined
  mouthOpen?: {
    value: boolean
    /** 0..1. */
    confidence: number
  } | undefined
}

export interface Portrait {
  /** Whether every check passed. */
  compliant: boolean
  checks: ({
    name: string
    value: number
    range: {
      min: number | null
      max: number | null
    }
    passed: boolean
  })[]
}

export interface Candidate {
  subjectId: string
  externalId: string | null
  displayName: string | null
  /** 0..1. */
  similarity: number
  matchLevel: 'none' | 'low' | 'medium' | 'high' | 'veryHigh'
  faceId: string
  groups: string[]
}

export interface AttributesParams {
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** The attributes to return; all by default. */
  readonly include?: readonly ('age' | 'gender' | 'expression' | 'eyesOpen' | 'mouthOpen' | 'glasses' | 'mask')[] | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface AttributesValue {
  face: Face
  attributes: Appearance
  /** Requested but not returned: there is no model for it, the project has disabled it, or that part of the face is covered. */
  unavailable: ('age' | 'gender' | 'expression' | 'eyesOpen' | 'mouthOpen' | 'glasses' | 'mask')[]
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface Face {
  faceIndex: number
  /** Whole pixels of the upright image, origin top-left. */
  boundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** The same box as fractions of the image width and height. */
  relativeBoundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** Detection confidence. 0..1. */
  confidence: number
  /** Pixels of the upright image; left and right as in the image. */
  landmarks?: {
    leftEye: Point
    rightEye: Point
    noseTip: Point
    leftMouth: Point
    rightMouth: Point
  } | undefined
  pose: {
    /** Degrees; above 0 the nose points to image right. */
    yaw: number
    /** Degrees; above 0 the nose points up. */
    pitch: number
    /** Degrees; above 0 the head leans to image right. */
    roll: number
  }
  quality: {
    /** 0..100. */
    score: number
    /** low below 40, medium from 40, high from 70. */
    level: 'low' | 'medium' | 'high'
  }
}

export interface ImageFacts {
  /** Pixels of the upright image. */
  width: number
  height: number
  /** Whether an EXIF orientation rotated or mirrored the image. */
  orientationApplied: boolean
}

export interface DeleteSubjectParams {
  /** The id that svc.enroll returned. */
  readonly subjectId: string
}

export interface DeleteSubjectValue {
  deletionId: string
  subjectId: string
  /** The account. */
  tenantId: string
  groups: string[]
  externalId: string | null
  /** Number of templates that were deleted. */
  embeddingCount: number
  deletedAtUtc: string
}

export interface DetectParams {
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** The most faces to return, largest first. 1..100. Default 100. */
  readonly maxFaces?: number | undefined
  /** Default true. */
  readonly returnLandmarks?: boolean | undefined
  /** Adds an aligned JPEG of each face, base64. Default false. */
  readonly returnCrops?: boolean | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface DetectValue {
  /** Number of faces, including those beyond maxFaces. */
  faceCount: number
  faces: ({
    faceIndex: number
    /** Whole pixels of the upright image, origin top-left. */
    boundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** The same box as fractions of the image width and height. */
    relativeBoundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** Detection confidence. 0..1. */
    confidence: number
    /** Pixels of the upright image; left and right as in the image. */
    landmarks?: {
      leftEye: Point
      rightEye: Point
      noseTip: Point
      leftMouth: Point
      rightMouth: Point
    } | undefined
    pose: {
      /** Degrees; above 0 the nose points to image right. */
      yaw: number
      /** Degrees; above 0 the nose points up. */
      pitch: number
      /** Degrees; above 0 the head leans to image right. */
      roll: number
    }
    quality: {
      /** 0..100. */
      score: number
      /** low below 40, medium from 40, high from 70. */
      level: 'low' | 'medium' | 'high'
    }
    /** Aligned 112×112 JPEG, base64. */
    crop?: string | undefined
  })[]
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface EnrollParams {
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** Your id of the subject, unique in the gallery. Choose an id without personal data. At most 128 characters. */
  readonly externalId?: string | undefined
  /** Adds a template to this subject. */
  readonly subjectId?: string | undefined
  /** At most 256 characters. */
  readonly displayName?: string | undefined
  /** Groups of the subject; a group is created on first use. At most 20. Default []. */
  readonly groups?: readonly string[] | undefined
  /** A JSON object with your data, at most 4 KB. */
  readonly attributes?: { readonly [key: string]: unknown } | undefined
  /** If a subject has this externalId: add a template, or reject the call. Default "append". */
  readonly onExisting?: 'append' | 'reject' | undefined
  /** If another subject has a similar face: report it, or reject the call. Default "report". */
  readonly duplicateCheck?: 'off' | 'report' | 'reject' | undefined
  /** 0..1. Default 0.9. */
  readonly duplicateThreshold?: number | undefined
  /** When the subject is deleted automatically. */
  readonly expiresAtUtc?: string | undefined
  /** Adds the template even if the face does not resemble the subject. Default false. */
  readonly force?: boolean | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "single". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 40. */
  readonly minQuality?: number | undefined
  /** Rejects a face that svc.liveness would not classify as live: LIVENESS_FAILED. svc.verify checks the first of two images. svc.identify ignores further faces that are not live. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface EnrollValue {
  subjectId: string
  faceId: string
  externalId: string | null
  /** Whether the subject is new. */
  created: boolean
  embeddingCount: number
  groups: string[]
  face: Face
  duplicates: ({
    subjectId: string
    externalId: string | null
    /** 0..1. */
    similarity: number
  })[]
  enrolledAtUtc: string
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface IdentifyParams {
  /** Each image is one item of the batch, with a separate result. At most 10. */
  readonly images: readonly ImageItem[]
  /** 1..100. Default 5. */
  readonly maxCandidates?: number | undefined
  /** 0..1, or `auto`: about 1 % of searches for people who are not enrolled return a false match. Default "auto". */
  readonly threshold?: number | 'auto' | undefined
  /** Only subjects of any of these groups. At most 20. */
  readonly groups?: readonly string[] | undefined
  /** 1..20. Default 1. */
  readonly maxFaces?: number | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** Rejects a face that svc.liveness would not classify as live: LIVENESS_FAILED. svc.verify checks the first of two images. svc.identify ignores further faces that are not live. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface IdentifyValue {
  matched: boolean
  bestMatch: Candidate | null
  faces: ({
    faceIndex: number
    /** Whole pixels of the upright image, origin top-left. */
    boundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** The same box as fractions of the image width and height. */
    relativeBoundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** Detection confidence. 0..1. */
    confidence: number
    /** Pixels of the upright image; left and right as in the image. */
    landmarks?: {
      leftEye: Point
      rightEye: Point
      noseTip: Point
      leftMouth: Point
      rightMouth: Point
    } | undefined
    pose: {
      /** Degrees; above 0 the nose points to image right. */
      yaw: number
      /** Degrees; above 0 the nose points up. */
      pitch: number
      /** Degrees; above 0 the head leans to image right. */
      roll: number
    }
    quality: {
      /** 0..100. */
      score: number
      /** low below 40, medium from 40, high from 70. */
      level: 'low' | 'medium' | 'high'
    }
    matched: boolean
    candidates: Candidate[]
  })[]
  /** 0..1. */
  threshold: number
  thresholdSource: 'request' | 'project' | 'auto'
  /** Number of subjects in the gallery. */
  gallerySize: number
  /** Number of faces that were not compared because they have only templates of other models; absent if there are none. */
  notComparable?: number | undefined
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface LivenessParams {
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly threshold?: number | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface LivenessValue {
  /** Passive, from one image. It detects prints and screens, not masks, deep fakes or injected images. A spoof is a result, not an error. */
  decision: 'live' | 'spoof' | 'uncertain'
  /** True only for the decision `live`. */
  live: boolean
  /** The higher the score, the more probable is a live person. 0..1. */
  score: number
  /** Scores from this value are live. 0..1. */
  threshold: number
  /** Why the decision is uncertain. LOW_QUALITY: the quality or the content of the image is not sufficient for a decision. For a spoof, MULTIPLE_FACES only reports that the image contains other faces. */
  reasons: ('FACE_TOO_SMALL' | 'FACE_TOO_CLOSE_TO_EDGE' | 'EXTREME_POSE' | 'LOW_QUALITY' | 'MULTIPLE_FACES')[]
  face: Face
  faceCount: number
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface UpdateSubjectParams {
  /** The id that svc.enroll returned. */
  readonly subjectId: string
  readonly externalId?: string | null | undefined
  readonly displayName?: string | null | undefined
  /** A JSON merge patch (RFC 7396): null removes a field. */
  readonly attributes?: { readonly [key: string]: unknown } | undefined
  /** At most 20. */
  readonly addGroups?: readonly string[] | undefined
  /** At most 20. */
  readonly removeGroups?: readonly string[] | undefined
  /** At most 20. */
  readonly removeFaceIds?: readonly string[] | undefined
  readonly expiresAtUtc?: string | null | undefined
  /** The first image is analyzed; further images are ignored. At most 10. */
  readonly images?: readonly ImageItem[] | undefined
  /** Default false. */
  readonly force?: boolean | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "single". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 40. */
  readonly minQuality?: number | undefined
  /** Rejects a face that svc.liveness would not classify as live: LIVENESS_FAILED. svc.verify checks the first of two images. svc.identify ignores further faces that are not live. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface UpdateSubjectValue {
  subjectId: string
  externalId: string | null
  displayName: string | null
  groups: string[]
  attributes: { [key: string]: unknown }
  /** Number of templates of the subject. */
  embeddingCount: number
  faces?: ({
    faceId: string
    qualityScore: number
    modelId: string
    createdAtUtc: string
  })[] | undefined
  createdAtUtc: string
  updatedAtUtc: string
  expiresAtUtc: string | null
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface VerifyParams {
  /** The probe and, without a subject, the image to compare it with. At most 10. */
  readonly images: readonly ImageItem[]
  /** Optional: the other parameters determine the mode. A mode that contradicts them is rejected. */
  readonly mode?: 'imageToImage' | 'imageToSubject' | undefined
  /** The id that svc.enroll returned. */
  readonly subjectId?: string | undefined
  /** Your id of the subject, unique in the gallery. Choose an id without personal data. At most 128 characters. */
  readonly externalId?: string | undefined
  /** 0..1. Default 0.8. */
  readonly threshold?: number | undefined
  /** Faces with a lower detection confidence are ignored. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces with a shorter side below this number of pixels are ignored. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` rejects an image with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest accepted quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** Rejects a face that svc.liveness would not classify as live: LIVENESS_FAILED. svc.verify checks the first of two images. svc.identify ignores further faces that are not live. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; by default the threshold of the installed liveness models. A higher threshold accepts fewer attacks and rejects more live people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface VerifyValue {
  mode: 'imageToImage' | 'imageToSubject'
  matched: boolean
  /** 0..1. */
  similarity: number
  matchLevel: 'none' | 'low' | 'medium' | 'high' | 'veryHigh'
  /** 0..1. */
  threshold: number
  /** The similarity at which different people match at this rate. */
  thresholds: {
    /** 0..1. */
    fmr1e3: number
    /** 0..1. */
    fmr1e4: number
    /** 0..1. */
    fmr1e5: number
    /** 0..1. */
    fmr1e6: number
  }
  probe: Face
  reference: Face | null
  subjectId?: string | undefined
  externalId?: string | null | undefined
  /** The most similar face of the subject. */
  faceId?: string | undefined
  /** The probe was added to the subject, which had no template of the active model. Only in projects that have enabled it. */
  adoptedFaceId?: string | undefined
  image: ImageFacts
  /** Only if the request has `debug: true`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface ListSubjectsQuery {
  /** Your id of the subject, unique in the gallery. Choose an id without personal data. At most 128 characters. */
  readonly externalId?: string | undefined
  readonly group?: string | undefined
  /** Part of the display name or the external id. At most 128 characters. */
  readonly q?: string | undefined
  readonly createdFromUtc?: string | undefined
  readonly createdToUtc?: string | undefined
  /** The most items of a page. 1..200. Default 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. At most 1024 characters. */
  readonly cursor?: string | undefined
  /** `faces`: the templates’ facts. */
  readonly include?: 'faces' | undefined
}

export interface SubjectPage {
  items: Subject[]
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
}

export interface Subject {
  subjectId: string
  externalId: string | null
  displayName: string | null
  groups: string[]
  attributes: { [key: string]: unknown }
  /** Number of templates of the subject. */
  embeddingCount: number
  faces?: ({
    faceId: string
    qualityScore: number
    modelId: string
    createdAtUtc: string
  })[] | undefined
  createdAtUtc: string
  updatedAtUtc: string
  expiresAtUtc: string | null
}

export interface GetSubjectQuery {
  /** `faces`: the templates’ facts. */
  readonly include?: 'faces' | undefined
}

export interface GroupList {
  items: Group[]
}

export interface Group {
  name: string
  subjectCount: number
}

export interface DeleteGroupQuery {
  /** `true` only counts who would be deleted. Default "false". */
  readonly dryRun?: 'true' | 'false' | undefined
}

export interface GroupDeletion {
  group: string
  /** Subjects that were, or with dryRun would be, deleted. */
  deletedCount: number
  /** Empty with dryRun. */
  records: DeletionRecord[]
}

export interface DeletionRecord {
  deletionId: string
  subjectId: string
  /** The account. */
  tenantId: string
  groups: string[]
  externalId: string | null
  /** Number of templates that were deleted. */
  embeddingCount: number
  deletedAtUtc: string
}

export interface ListDeletionsQuery {
  readonly subjectId?: string | undefined
  /** Your id of the subject, unique in the gallery. Choose an id without personal data. At most 128 characters. */
  readonly externalId?: string | undefined
  readonly fromUtc?: string | undefined
  readonly toUtc?: string | undefined
  /** The most items of a page. 1..200. Default 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. At most 1024 characters. */
  readonly cursor?: string | undefined
}

export interface DeletionPage {
  items: DeletionRecord[]
  /** `cursor` of the next page; null on the last. */
  nextCursor: string | null
}

/** What each action takes and answers. */
export interface Actions {
  'svc.analyze': { params: AnalyzeParams; value: AnalyzeValue }
  'svc.attributes': { params: AttributesParams; value: AttributesValue }
  'svc.deleteSubject': { params: DeleteSubjectParams; value: DeleteSubjectValue }
  'svc.detect': { params: DetectParams; value: DetectValue }
  'svc.enroll': { params: EnrollParams; value: EnrollValue }
  'svc.identify': { params: IdentifyParams; value: IdentifyValue }
  'svc.liveness': { params: LivenessParams; value: LivenessValue }
  'svc.updateSubject': { params: UpdateSubjectParams; value: UpdateSubjectValue }
  'svc.verify': { params: VerifyParams; value: VerifyValue }
}

/** The actions that read one image, by the name of their method. */
export interface OneImageActions {
  /** Report the quality and the defects of every face of an image, and more on request. Costs 1 unit. */
  analyze: Actions['svc.analyze']
  /** Estimate the attributes of the largest face of an image: age, gender, expression, eyes, mouth. Costs 1 unit. */
  attributes: Actions['svc.attributes']
  /** Detect the faces of an image: boxes, landmarks, pose and quality. Costs 1 unit. */
  detect: Actions['svc.detect']
  /** Enroll the face of an image as a new subject, or add it to an existing subject. Costs 2 units. */
  enroll: Actions['svc.enroll']
  /** Decide passively, from one image, whether the camera recorded a live person or a print or screen that shows one. Costs 2 units. */
  liveness: Actions['svc.liveness']
}

export const oneImageActions = {
  analyze: 'svc.analyze',
  attributes: 'svc.attributes',
  detect: 'svc.detect',
  enroll: 'svc.enroll',
  liveness: 'svc.liveness',
} as const

/** The codes of the service; its documentation says what to do about each. */
export type ErrorCode =
  | 'UNAUTHORIZED'
  | 'FORBIDDEN'
  | 'PAYMENT_REQUIRED'
  | 'RATE_LIMITED'
  | 'INVALID_REQUEST'
  | 'PAYLOAD_TOO_LARGE'
  | 'REQUEST_ID_CONFLICT'
  | 'IMAGE_DECODE_FAILED'
  | 'UNSUPPORTED_IMAGE_TYPE'
  | 'IMAGE_TOO_SMALL'
  | 'IMAGE_TOO_LARGE'
  | 'NO_FACE_FOUND'
  | 'MULTIPLE_FACES'
  | 'FACE_TOO_SMALL'
  | 'LOW_QUALITY'
  | 'LIVENESS_FAILED'
  | 'SUBJECT_NOT_FOUND'
  | 'GROUP_NOT_FOUND'
  | 'EXTERNAL_ID_CONFLICT'
  | 'DUPLICATE_SUBJECT'
  | 'SUBJECT_FACE_MISMATCH'
  | 'TEMPLATE_LIMIT_REACHED'
  | 'GALLERY_FULL'
  | 'MODEL_MISMATCH'
