import { ageGender } from './builtin/age-gender.ts'
import { blazeface } from './builtin/blazeface.ts'
import { emotion } from './builtin/emotion.ts'
import { faceExpression } from './builtin/face-expression.ts'
import { faceLandmark68 } from './builtin/face-landmark-68.ts'
import { faceRecognition } from './builtin/face-recognition.ts'
import { facemesh } from './builtin/facemesh.ts'
import { faceres } from './builtin/faceres.ts'
import { liveness } from './builtin/liveness.ts'
import { ssdMobilenetv1 } from './builtin/ssd-mobilenetv1.ts'
import type { ModelPack } from './manifest.ts'

/**
 * The pack that needs no download: weights that ship inside the installed packages, converted at the
 * first start. Good for a beginning, for comparing two faces and for small galleries; its figures at
 * very low false-match rates and its liveness are weak.
 */
export const builtinPack = {
  name: 'builtin',
  models: {
    blazeface,
    ssd_mobilenetv1: ssdMobilenetv1,
    face_landmark_68: faceLandmark68,
    facemesh,
    face_recognition: faceRecognition,
    faceres,
    face_expression: faceExpression,
    emotion,
    age_gender: ageGender,
    liveness,
  },
} as const satisfies ModelPack
