import type { PackManifestInput } from '../pack-manifest.ts'

/** A conversion of foamliu's MobileFaceNet that has no address of its own: bring the file. */
export const mobilefacenet: PackManifestInput = {
  schema: 1,
  name: 'mobilefacenet',
  description:
    'A small embedder; bring the file with --from. Needs a calibration of yours before it serves.',
  models: [
    {
      id: 'mobilefacenet',
      version: '1',
      role: 'recognizer',
      file: 'mobilefacenet.onnx',
      sha256: 'f055d9c9a4d826d198c42666590fdefa0fdc1374a75ccb6306c3d1b1bf8f74c5',
      licence: {
        name: 'unclear',
        commercialUse: 'unclear',
        note: 'Who converted the file, and under what licence, is not known.',
      },
      provenance: {
        origin: 'MobileFaceNet, a conversion of foamliu/MobileFaceNet',
        trainingData: 'MS-Celeb-1M (withdrawn by its publisher)',
      },
      input: {
        name: 'input',
        width: 112,
        height: 112,
        colourOrder: 'RGB',
        mean: [127.5, 127.5, 127.5],
        scale: 1 / 128,
      },
      decoding: { kind: 'arcface', dimensions: 128, flip: true },
      measured: [
        {
          what: 'ten-fold accuracy, mirrored too, raw',
          on: 'LFW, 6,000 pairs',
          value: '99.1–99.3 %',
        },
        {
          what: 'TAR at FAR 1e-4, 1e-5, 1e-6, raw',
          on: 'LFW, 23.75 million pairs of strangers',
          value: '95.6, 91.0, 76 %',
        },
        {
          what: 'TAR at FAR 1e-3, 1e-4, 1e-5, mirrored too, raw',
          on: 'LFW, fold 1: 931 pairs of one person, 324,290 of two',
          value: '98.6, 96.2, 92.8 %',
          how: 'facegate evaluate verification <folder> --models mobilefacenet --models recommended/yunet-n',
        },
        { what: 'one face, mirrored too, one thread', on: '112×112', value: '5.0 ms' },
      ],
      notFor: 'Commercial use before its licence is known.',
    },
  ],
}
