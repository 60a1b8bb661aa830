/** Values that several examples of the documentation share. */

export const faceExample = {
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

export const imageExample = { width: 640, height: 854, orientationApplied: false }

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

export const faceIdExample = '3f2c1b0a-9d8e-4c7b-a6f5-e4d3c2b1a098'

export const candidateExample = {
  subjectId: subjectExample.subjectId,
  externalId: subjectExample.externalId,
  displayName: subjectExample.displayName,
  similarity: 0.93,
  matchLevel: 'high' as const,
  faceId: faceIdExample,
  groups: subjectExample.groups,
}

export const deletionExample = {
  deletionId: 'd9e0c7a4-6b1f-4f3a-8b55-0f1e2d3c4b5a',
  subjectId: subjectExample.subjectId,
  tenantId: '5a0c9d1e-7f3b-4c2a-9e8d-1b2c3d4e5f60',
  groups: ['staff'],
  externalId: subjectExample.externalId,
  embeddingCount: 2,
  deletedAtUtc: '2026-03-01T12:00:00.000Z',
}

/** A call of svc.enroll and the value of its response. */
export const enrollExample = {
  params: {
    externalId: subjectExample.externalId,
    displayName: subjectExample.displayName,
    groups: subjectExample.groups,
  },
  value: {
    subjectId: subjectExample.subjectId,
    faceId: faceIdExample,
    externalId: subjectExample.externalId,
    created: true,
    embeddingCount: 1,
    groups: subjectExample.groups,
    face: faceExample,
    duplicates: [],
    enrolledAtUtc: subjectExample.createdAtUtc,
    image: imageExample,
    warnings: ['the subject has one template only; add a second picture to reduce misses'],
  },
}
