import type { AnalyzedFaceValue, LivenessResultValue } from './action-values.ts'
import type { JudgedVerdict } from './judge.ts'

/** The reasons of a liveness decision in words. */
export const livenessReasonTexts: Readonly<Record<LivenessResultValue['reasons'][number], string>> =
  {
    FACE_TOO_SMALL: 'The face is too small. Move closer to the camera.',
    FACE_TOO_CLOSE_TO_EDGE: 'The face is cut off or too close to the edge. Show the whole head.',
    EXTREME_POSE: 'The head is turned too far. Face the camera.',
    LOW_QUALITY: 'The face is blurred, badly lit or without colour. Take the picture again.',
    INCONCLUSIVE: 'The score is between the limits of live and spoof. Take another picture.',
    MULTIPLE_FACES: 'Another face of similar size is in the picture. Show one person.',
    DIFFERENT_PERSON: 'The images show different people.',
    CHALLENGE_NOT_FOLLOWED: 'The requested movements were not made.',
    FLAT_FACE: 'The face moved like a flat picture.',
    FRAMES_IDENTICAL: 'The images are identical.',
  }

export const verdictTexts: Readonly<Record<JudgedVerdict, string>> = {
  live: 'Live person',
  spoof: 'Spoof: a print or screen that shows a person',
  uncertain: 'Uncertain',
  notLive: 'Not live: spoof or uncertain',
}

/** The defects of a face in words. */
export const qualityReasonTexts: Readonly<Record<AnalyzedFaceValue['reasons'][number], string>> = {
  EXTREME_POSE: 'head turned too far',
  LOW_BRIGHTNESS: 'too dark',
  HIGH_BRIGHTNESS: 'too bright',
  LOW_SHARPNESS: 'blurred',
  LOW_CONTRAST: 'too little contrast',
  LOW_CONFIDENCE: 'not certainly a face',
  FACE_TOO_SMALL: 'too small',
  FACE_CUT_OFF: 'cut off',
  FACE_OCCLUDED: 'covered',
  EYES_CLOSED: 'eyes closed',
  MOUTH_OPEN: 'mouth open',
  MULTIPLE_FACES: 'several faces in the picture',
}

/** The components of the quality score in words. */
export const componentTexts: Readonly<Record<string, string>> = {
  sharpness: 'Sharpness',
  brightness: 'Brightness',
  contrast: 'Contrast',
  exposure: 'Exposure',
  faceSize: 'Face size',
  headPose: 'Head pose',
  eyesOpen: 'Eyes open',
  mouthClosed: 'Mouth closed',
  occlusion: 'Not covered',
}

export const stepTexts: Readonly<Record<string, string>> = {
  turnLeft: 'Turn left',
  turnRight: 'Turn right',
  lookUp: 'Face up',
  lookDown: 'Face down',
}
