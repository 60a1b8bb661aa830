// Written by `npm run contract` from the schemas of the service: change those instead.
// oxlint-disable max-lines -- one file for the whole contract

export interface AnalyzeParams {
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** What is told beside box, pose, score and reasons, which are always there: the components of the quality, landmarks, what covers the face; the checks of a portrait; what svc.liveness and svc.attributes say of every face. Default ["quality","pose","landmarks","occlusion"]. */
  readonly features?: readonly ('quality' | 'pose' | 'landmarks' | 'occlusion' | 'portrait' | 'liveness' | 'attributes')[] | undefined
  /** 1..100. Default 10. */
  readonly maxFaces?: number | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface ImageItem {
  readonly kind: 'image'
  /** Base64 (RFC 4648 section 4, padded) of a JPEG or PNG of at most 8 MiB. */
  readonly bytes: string
  readonly contentType: 'image/jpeg' | 'image/jpg' | 'image/png'
  /** Echoed on the result; `auto-<index>` when absent. At most 128 characters. */
  readonly correlationId?: string | undefined
}

export interface AnalyzeValue {
  /** Faces found, also those beyond maxFaces. */
  faceCount: number
  image: {
    /** Pixels of the upright image. */
    width: number
    height: number
    /** Whether an EXIF orientation turned or mirrored the image. */
    orientationApplied: boolean
    /** 0..100. */
    brightness: number
    /** 0..100. */
    sharpness: number
  }
  faces: AnalyzedFace[]
  portrait?: Portrait | undefined
  /** Only when the request says `debug`. */
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
  /** The same box in parts of the width and height of the image. */
  relativeBoundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** How sure the detector is. 0..1. */
  confidence: number
  /** Pixels of the upright image; left and right as seen in the image. */
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
  /** How probably something covers them; left and right as in the image. */
  occlusion?: {
    /** 0..1. */
    leftEye: number
    /** 0..1. */
    rightEye: number
    /** 0..1. */
    lowerFace: number
  } | undefined
  /** Whether svc.enroll with its default parameters would take this face. */
  suitableForEnrollment: boolean
  /** What stands out. A face can be suitable all the same. */
  reasons: ('EXTREME_POSE' | 'LOW_BRIGHTNESS' | 'HIGH_BRIGHTNESS' | 'LOW_SHARPNESS' | 'LOW_CONTRAST' | 'LOW_CONFIDENCE' | 'FACE_TOO_SMALL' | 'FACE_CUT_OFF' | 'FACE_OCCLUDED' | 'EYES_CLOSED' | 'MOUTH_OPEN' | 'MULTIPLE_FACES')[]
  liveness?: LivenessJudgement | undefined
  attributes?: Appearance | undefined
  /** Asked for and not told: there is no model of it, the project has switched it off, or it is covered. */
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
  /** Passive, from one image; it looks for prints and screens, not for masks, deep fakes or injected images. A spoof is a result, not an error. */
  decision: 'live' | 'spoof' | 'uncertain'
  /** True for the decision `live` alone. */
  live: boolean
  /** The higher, the more like a person. 0..1. */
  score: number
  /** Live from this score on. 0..1. */
  threshold: number
  /** Why the decision is uncertain. LOW_QUALITY: the picture’s quality, or what it shows, does not suffice for a judgement. Beside a spoof, MULTIPLE_FACES says that there are others. */
  reasons: ('FACE_TOO_SMALL' | 'FACE_TOO_CLOSE_TO_EDGE' | 'EXTREME_POSE' | 'LOW_QUALITY' | 'MULTIPLE_FACES')[]
}

export interface Appearance {
  /** Years; eight in ten people are meant to lie between low and high. */
  age?: {
    value: number
    low: number
    high: number
  } | undefined
  /** As the face looks to a network; what a person is it cannot know. */
  gender?: {
    value: 'male' | 'female'
    /** 0..1. */
    confidence: number
  } | undefined
  /** What the face shows; what a person feels it cannot know. */
  expression?: {
    value: 'neutral' | 'happy' | 'sad' | 'angry' | 'fearful' | 'disgusted' | 'surprised'
    /** 0..1. */
    confidence: number
    /** Of all seven; they sum to 1. */
    scores: { [key: string]: number }
  } | undefined
  /** Open from 0.5; left and right as seen in the image. */
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
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** Only these; without it, all that there are. */
  readonly include?: readonly ('age' | 'gender' | 'expression' | 'eyesOpen' | 'mouthOpen' | 'glasses' | 'mask')[] | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface AttributesValue {
  face: Face
  attributes: Appearance
  /** Asked for and not told: there is no model of it, the project has switched it off, or it is covered. */
  unavailable: ('age' | 'gender' | 'expression' | 'eyesOpen' | 'mouthOpen' | 'glasses' | 'mask')[]
  image: ImageFacts
  /** Only when the request says `debug`. */
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
  /** The same box in parts of the width and height of the image. */
  relativeBoundingBox: {
    left: number
    top: number
    width: number
    height: number
  }
  /** How sure the detector is. 0..1. */
  confidence: number
  /** Pixels of the upright image; left and right as seen in the image. */
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
  /** Whether an EXIF orientation turned or mirrored the image. */
  orientationApplied: boolean
}

export interface DeleteSubjectParams {
  /** As svc.enroll returned it. */
  readonly subjectId: string
}

export interface DeleteSubjectValue {
  deletionId: string
  subjectId: string
  /** The account. */
  tenantId: string
  groups: string[]
  externalId: string | null
  /** Templates that were removed. */
  embeddingCount: number
  deletedAtUtc: string
}

export interface DetectParams {
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** The most faces to return, largest first. 1..100. Default 100. */
  readonly maxFaces?: number | undefined
  /** Default true. */
  readonly returnLandmarks?: boolean | undefined
  /** Adds an aligned JPEG of each face, base64. Default false. */
  readonly returnCrops?: boolean | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface DetectValue {
  /** Faces found, also those beyond maxFaces. */
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
    /** The same box in parts of the width and height of the image. */
    relativeBoundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** How sure the detector is. 0..1. */
    confidence: number
    /** Pixels of the upright image; left and right as seen in the image. */
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
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface EnrollParams {
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** Your own id, unique in the gallery. Use one that says nothing by itself. At most 128 characters. */
  readonly externalId?: string | undefined
  /** Adds a template to this subject. */
  readonly subjectId?: string | undefined
  /** At most 256 characters. */
  readonly displayName?: string | undefined
  /** Groups to belong to; made on first use. At most 20. Default []. */
  readonly groups?: readonly string[] | undefined
  /** A JSON object of your own, at most 4 KB. */
  readonly attributes?: { readonly [key: string]: unknown } | undefined
  /** What to do when the externalId is known: add a template, or refuse. Default "append". */
  readonly onExisting?: 'append' | 'reject' | undefined
  /** What to do when another subject looks the same. Default "report". */
  readonly duplicateCheck?: 'off' | 'report' | 'reject' | undefined
  /** 0..1. Default 0.9. */
  readonly duplicateThreshold?: number | undefined
  /** When the subject is deleted by itself. */
  readonly expiresAtUtc?: string | undefined
  /** Adds the template even if it does not look like the subject. Default false. */
  readonly force?: boolean | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "single". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 40. */
  readonly minQuality?: number | undefined
  /** Refuses a face that svc.liveness would not call live: LIVENESS_FAILED. Of two images of svc.verify the first is looked at; in svc.identify, further faces that are not live are passed over. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
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
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface IdentifyParams {
  /** Each image is an item of the batch, with a result of its own. At most 10. */
  readonly images: readonly ImageItem[]
  /** 1..100. Default 5. */
  readonly maxCandidates?: number | undefined
  /** 0..1; `auto` is one false answer in a hundred searches. Default "auto". */
  readonly threshold?: number | 'auto' | undefined
  /** Only subjects that belong to any of these. At most 20. */
  readonly groups?: readonly string[] | undefined
  /** 1..20. Default 1. */
  readonly maxFaces?: number | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** Refuses a face that svc.liveness would not call live: LIVENESS_FAILED. Of two images of svc.verify the first is looked at; in svc.identify, further faces that are not live are passed over. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
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
    /** The same box in parts of the width and height of the image. */
    relativeBoundingBox: {
      left: number
      top: number
      width: number
      height: number
    }
    /** How sure the detector is. 0..1. */
    confidence: number
    /** Pixels of the upright image; left and right as seen in the image. */
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
  /** Subjects of the gallery. */
  gallerySize: number
  /** Faces with templates of other models alone, which were not compared; absent when there are none. */
  notComparable?: number | undefined
  image: ImageFacts
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface LivenessParams {
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images: readonly [ImageItem, ...ImageItem[]]
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
  readonly threshold?: number | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
}

export interface LivenessValue {
  /** Passive, from one image; it looks for prints and screens, not for masks, deep fakes or injected images. A spoof is a result, not an error. */
  decision: 'live' | 'spoof' | 'uncertain'
  /** True for the decision `live` alone. */
  live: boolean
  /** The higher, the more like a person. 0..1. */
  score: number
  /** Live from this score on. 0..1. */
  threshold: number
  /** Why the decision is uncertain. LOW_QUALITY: the picture’s quality, or what it shows, does not suffice for a judgement. Beside a spoof, MULTIPLE_FACES says that there are others. */
  reasons: ('FACE_TOO_SMALL' | 'FACE_TOO_CLOSE_TO_EDGE' | 'EXTREME_POSE' | 'LOW_QUALITY' | 'MULTIPLE_FACES')[]
  face: Face
  faceCount: number
  image: ImageFacts
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface UpdateSubjectParams {
  /** As svc.enroll returned it. */
  readonly subjectId: string
  readonly externalId?: string | null | undefined
  readonly displayName?: string | null | undefined
  /** A JSON merge patch (RFC 7396): null takes a field away. */
  readonly attributes?: { readonly [key: string]: unknown } | undefined
  /** At most 20. */
  readonly addGroups?: readonly string[] | undefined
  /** At most 20. */
  readonly removeGroups?: readonly string[] | undefined
  /** At most 20. */
  readonly removeFaceIds?: readonly string[] | undefined
  readonly expiresAtUtc?: string | null | undefined
  /** The first image is read, further ones are ignored. At most 10. */
  readonly images?: readonly ImageItem[] | undefined
  /** Default false. */
  readonly force?: boolean | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "single". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 40. */
  readonly minQuality?: number | undefined
  /** Refuses a face that svc.liveness would not call live: LIVENESS_FAILED. Of two images of svc.verify the first is looked at; in svc.identify, further faces that are not live are passed over. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
  readonly livenessThreshold?: number | undefined
}

export interface UpdateSubjectValue {
  subjectId: string
  externalId: string | null
  displayName: string | null
  groups: string[]
  attributes: { [key: string]: unknown }
  /** Templates that the subject has. */
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
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface VerifyParams {
  /** The probe; and, where no subject is named, the picture to compare it with. At most 10. */
  readonly images: readonly ImageItem[]
  /** Said by the other parameters; refused when it contradicts them. */
  readonly mode?: 'imageToImage' | 'imageToSubject' | undefined
  /** As svc.enroll returned it. */
  readonly subjectId?: string | undefined
  /** Your own id, unique in the gallery. Use one that says nothing by itself. At most 128 characters. */
  readonly externalId?: string | undefined
  /** 0..1. Default 0.8. */
  readonly threshold?: number | undefined
  /** Faces that the detector is less sure of are passed over. 0..1. Default 0.6. */
  readonly minFaceConfidence?: number | undefined
  /** Faces whose shorter side is below this many pixels are passed over. 1..10000. Default 40. */
  readonly minFaceSize?: number | undefined
  /** `single` refuses a picture with more than one face. Default "largest". */
  readonly facePolicy?: 'largest' | 'single' | undefined
  /** Lowest acceptable quality score of a face. 0..100. Default 0. */
  readonly minQuality?: number | undefined
  /** Refuses a face that svc.liveness would not call live: LIVENESS_FAILED. Of two images of svc.verify the first is looked at; in svc.identify, further faces that are not live are passed over. Default false. */
  readonly requireLiveness?: boolean | undefined
  /** The score from which a face is live; without it, that of the networks in use. A higher one lets fewer attacks pass and refuses more people. 0..1. */
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
  /** The similarity that strangers reach so often. */
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
  /** The template that is most like the face. */
  faceId?: string | undefined
  /** The face was added to the subject, which no template of the active model knew: only in projects that have switched it on. */
  adoptedFaceId?: string | undefined
  image: ImageFacts
  /** Only when the request says `debug`. */
  debug?: {
    providers: { [key: string]: string }
    scores: { [key: string]: number }
    timingsMs: { [key: string]: number }
    /** At most 5. */
    candidatesBelowThreshold?: Candidate[] | undefined
  } | undefined
}

export interface ListSubjectsQuery {
  /** Your own id, unique in the gallery. Use one that says nothing by itself. At most 128 characters. */
  readonly externalId?: string | undefined
  readonly group?: string | undefined
  /** A part of the display name or of the external id. At most 128 characters. */
  readonly q?: string | undefined
  readonly createdFromUtc?: string | undefined
  readonly createdToUtc?: string | undefined
  /** The maximum number of items per page. 1..200. Default 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. At most 1024 characters. */
  readonly cursor?: string | undefined
  /** `faces` adds the details of the templates. */
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
  /** Templates that the subject has. */
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
  /** `faces` adds the details of the templates. */
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
  /** `true` only counts the subjects. Default "false". */
  readonly dryRun?: 'true' | 'false' | undefined
}

export interface GroupDeletion {
  group: string
  /** Deleted subjects, or with dryRun the subjects to delete. */
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
  /** Templates that were removed. */
  embeddingCount: number
  deletedAtUtc: string
}

export interface ListDeletionsQuery {
  readonly subjectId?: string | undefined
  /** Your own id, unique in the gallery. Use one that says nothing by itself. At most 128 characters. */
  readonly externalId?: string | undefined
  readonly fromUtc?: string | undefined
  readonly toUtc?: string | undefined
  /** The maximum number of items per page. 1..200. Default 50. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. At most 1024 characters. */
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
  /** Say of every face of an image how good it is, what is wrong with it, and more on request. Costs 1 unit. */
  analyze: Actions['svc.analyze']
  /** Tell what the largest face of an image looks like: age, gender, expression, eyes, mouth. Costs 1 unit. */
  attributes: Actions['svc.attributes']
  /** Find the faces of an image: boxes, landmarks, pose and quality. Costs 1 unit. */
  detect: Actions['svc.detect']
  /** Remember the face of an image as a subject of the gallery, or add it to one. Costs 2 units. */
  enroll: Actions['svc.enroll']
  /** Judge by one image, passively, whether the camera saw a person or a print or screen that shows one. Costs 2 units. */
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
