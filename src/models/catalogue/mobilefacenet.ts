import type { PackManifestInput } from '../pack-manifest.ts'

/** A conversion of foamliu's MobileFaceNet without a download address: the user provides the file. */
export const mobilefacenet: PackManifestInput = {
  schema: 1,
  name: 'mobilefacenet',
  description:
    'A small recognizer; pass the folder of the file with --from. It must be calibrated with your own pictures before use.',
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
        note: 'The author of the conversion and its licence are unknown.',
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
      decoding: {
        kind: 'arcface',
        dimensions: 128,
        flip: true,
        cohort: {
          file: 'mobilefacenet.rows.f16',
          sha256: '81c2f9d12e59110d7ac639552b2797c9c60dc1ec991e694da7a63010b3cb3e98',
          neighbours: 15,
          origin:
            '1,200 means of three faces each of 660 pictures of UTKFace, 40 for each of 30 cells of group, gender and age; the pictures have research-only terms, the rows contain no picture',
        },
      },
      measured: [
        {
          what: 'ten-fold accuracy, averaged with the mirrored face, raw scores',
          on: 'LFW, 6,000 pairs',
          value: '99.1–99.3 %',
        },
        {
          what: 'TAR at FAR 1e-4, 1e-5, 1e-6, raw scores',
          on: 'LFW, 23.75 million pairs of different people',
          value: '95.6, 91.0, 76 %',
        },
        {
          what: 'TAR at FAR 1e-3, 1e-4, 1e-5, averaged with the mirrored face, raw scores',
          on: 'LFW, fold 1: 931 pairs of the same person, 324,290 of different people',
          value: '98.6, 96.2, 92.8 %',
          how: 'facegate evaluate verification <folder> --models mobilefacenet --models recommended/yunet-n',
        },
        { what: 'one face and its mirror image, one thread', on: '112×112', value: '5.0 ms' },
      ],
      notFor: 'Commercial use, as long as its licence is unknown.',
    },
  ],
}
