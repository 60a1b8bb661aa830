/** Parts of the answers that the documentation shows. */

const faceExample = {
  faceIndex: 0,
  boundingBox: { left: 68, top: 77, width: 308, height: 402 },
  relativeBoundingBox: { left: 0.1063, top: 0.0902, width: 0.4813, height: 0.4707 },
  confidence: 0.998,
  landmarks: {
    leftEye: { x: 156, y: 245 },
    rightEye: { x: 288, y: 241 },
    noseTip: { x: 219, y: 318 },
    leftMouth: { x: 168, y: 384 },
    rightMouth: { x: 282, y: 381 },
  },
  pose: { yaw: -3.1, pitch: 5.4, roll: 1 },
  quality: { score: 81, level: 'high' as const },
}

const imageExample = { width: 640, height: 854, orientationApplied: false }

export const detectExample = {
  params: { maxFaces: 10 },
  value: { faceCount: 1, faces: [faceExample], image: imageExample },
}

export const livenessExample = {
  params: {},
  value: {
    decision: 'live' as const,
    live: true,
    score: 0.97,
    threshold: 0.5,
    reasons: [],
    face: faceExample,
    faceCount: 1,
    image: imageExample,
  },
}

const appearanceExample = {
  age: { value: 31.4, low: 21, high: 41 },
  gender: { value: 'female' as const, confidence: 0.984 },
  expression: {
    value: 'happy' as const,
    confidence: 0.91,
    scores: {
      neutral: 0.06,
      happy: 0.91,
      sad: 0.01,
      angry: 0.005,
      fearful: 0.005,
      disgusted: 0.005,
      surprised: 0.005,
    },
  },
  eyesOpen: { left: 1, right: 0.96 },
  mouthOpen: { value: false, confidence: 0.83 },
}

export const attributesExample = {
  params: { include: ['age', 'gender', 'expression', 'eyesOpen', 'mouthOpen', 'glasses'] },
  value: {
    face: faceExample,
    attributes: appearanceExample,
    unavailable: ['glasses' as const],
    image: imageExample,
  },
}

export const analyzeExample = {
  params: { features: ['quality', 'landmarks', 'occlusion'] },
  value: {
    faceCount: 1,
    image: { ...imageExample, brightness: 52, sharpness: 88 },
    faces: [
      {
        ...faceExample,
        quality: {
          ...faceExample.quality,
          components: {
            sharpness: 74,
            brightness: 100,
            contrast: 100,
            exposure: 100,
            faceSize: 100,
            headPose: 98,
            eyesOpen: 100,
            mouthClosed: 83,
            occlusion: 100,
          },
        },
        occlusion: { leftEye: 0.01, rightEye: 0.01, lowerFace: 0.02 },
        suitableForEnrollment: true,
        reasons: [],
      },
    ],
  },
}

export const subjectExample = {
  subjectId: '0b9f1f9c-2e0e-4a7e-9d57-3c4b8a1d2e3f',
  externalId: 'badge-1042',
  displayName: 'A. Example',
  groups: ['night-shift', 'staff'],
  attributes: { site: 'Graz' },
  embeddingCount: 2,
  createdAtUtc: '2026-03-01T12:00:00.000Z',
  updatedAtUtc: '2026-03-02T08:30:00.000Z',
  expiresAtUtc: null,
}

const { subjectId, externalId, displayName, groups } = subjectExample
const faceId = '3f2c1b0a-9d8e-4c7b-a6f5-e4d3c2b1a098'

const candidateExample = {
  subjectId,
  externalId,
  displayName,
  similarity: 0.93,
  matchLevel: 'high' as const,
  faceId,
  groups,
}

export const enrollExample = {
  params: { externalId, displayName, groups },
  value: {
    subjectId,
    faceId,
    externalId,
    created: true,
    embeddingCount: 1,
    groups,
    face: faceExample,
    duplicates: [],
    enrolledAtUtc: subjectExample.createdAtUtc,
    image: imageExample,
  },
}

export const identifyExample = {
  params: { maxCandidates: 3 },
  value: {
    matched: true,
    bestMatch: candidateExample,
    faces: [{ ...faceExample, matched: true, candidates: [candidateExample] }],
    threshold: 0.8,
    thresholdSource: 'auto' as const,
    gallerySize: 120,
    image: imageExample,
  },
}

export const verifyExample = {
  params: { subjectId },
  value: {
    mode: 'imageToSubject' as const,
    matched: true,
    similarity: 0.93,
    matchLevel: 'high' as const,
    threshold: 0.8,
    thresholds: { fmr1e3: 0.7, fmr1e4: 0.8, fmr1e5: 0.9, fmr1e6: 0.95 },
    probe: faceExample,
    reference: null,
    subjectId,
    externalId,
    faceId,
    image: imageExample,
  },
}

export const deletionExample = {
  deletionId: 'd9e0c7a4-6b1f-4f3a-8b55-0f1e2d3c4b5a',
  subjectId,
  tenantId: '5a0c9d1e-7f3b-4c2a-9e8d-1b2c3d4e5f60',
  groups: ['staff'],
  externalId,
  embeddingCount: 2,
  deletedAtUtc: '2026-03-01T12:00:00.000Z',
}
