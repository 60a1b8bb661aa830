import { ageGender } from './networks/age-gender.ts'
import { blazeface } from './networks/blazeface.ts'
import { emotion } from './networks/emotion.ts'
import { faceExpression } from './networks/face-expression.ts'
import { faceLandmark68 } from './networks/face-landmark-68.ts'
import { faceRecognition } from './networks/face-recognition.ts'
import { facemesh } from './networks/facemesh.ts'
import { faceres } from './networks/faceres.ts'
import { liveness } from './networks/liveness.ts'
import { ssdMobilenetv1 } from './networks/ssd-mobilenetv1.ts'
import type { BuiltinModel, BuiltinPack } from './builtin-model.ts'

/**
 * The pack that needs no download: the weights are part of installed npm packages and are converted
 * at the first start. It is suitable for trials, for comparing two faces and for small galleries. Its
 * accuracy at very low false-match rates and its liveness check are weak.
 */
export const builtinPack = {
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
} as const satisfies BuiltinPack

/** The licence of a model as its package states it. */
export function builtinLicence({ source }: BuiltinModel): string {
  return `MIT for the whole package (LICENSE of ${source.package}); no separate licence for the weights`
}
