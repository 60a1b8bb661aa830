import type { BuiltinModel } from '../builtin-model.ts'
import data from './networks.json' with { type: 'json' }

/** A second embedding, the age and the gender from one aligned crop. */
export const faceres = {
  id: 'faceres',
  ...data.faceres,
  version: '1',
  roles: ['recognizer', 'attributes'],
  source: {
    ...data.faceres.source,
    conversion: {
      from: 'tfjs-graph',
      outputs: {
        age: 'age_pred/Softmax',
        embedding: 'global_pooling/Mean',
        gender: 'gender_pred/Sigmoid',
      },
    },
  },
  input: { ...data.faceres.input, colourOrder: 'BGR' },
  constants: {
    /** Scale of the ArcFace template about the centre of the crop; the face is aligned to it by five points. */
    templateScale: 0.8,
    dimensions: 1024,
    /** The template scale for age and gender: the face is slightly larger in the crop. */
    attributesTemplateScale: 0.9,
    /**
     * From this probability on the face is reported as male. The network is biased towards "male". This
     * value separates 113 women and 120 men of LFW best: at 0.5, seven women are classified as men;
     * here the only error is one boy that the list labels female (`facegate evaluate attributes`,
     * docs/accuracy.md).
     */
    maleBorder: 0.635,
  },
} as const satisfies BuiltinModel
