import type { PackManifestInput } from '../pack-manifest.ts'

const mirrorUrl = 'https://github.com/visomaster/visomaster-assets/releases/download/v0.1.0'

const insightfaceTerms = {
  licence: {
    name: 'InsightFace: non-commercial research purposes only',
    commercialUse: 'forbidden',
    note: 'The download is a copy; InsightFace publishes an archive, buffalo_l.zip of its release v0.7.',
  },
  notFor: 'Any commercial use. Not measured here.',
} as const

/** The large pack of InsightFace; the constants are from its `scrfd.py` and `arcface_onnx.py`. */
export const buffaloL: PackManifestInput = {
  schema: 1,
  name: 'buffalo-l',
  description:
    'The best-known pack of InsightFace, 191 MB; not for commercial use. ' +
    'The recognizer must be calibrated with your own pictures before use.',
  models: [
    {
      id: 'det-10g',
      version: '1',
      role: 'detector',
      file: 'det_10g.onnx',
      sha256: '5838f7fe053675b1c7a08b633df49e7af5495cee0493c7dcf6697200b85b5b91',
      source: {
        url: `${mirrorUrl}/det_10g.onnx`,
        sha256: '5838f7fe053675b1c7a08b633df49e7af5495cee0493c7dcf6697200b85b5b91',
        bytes: 16_923_827,
        format: { kind: 'onnx' },
      },
      ...insightfaceTerms,
      provenance: {
        origin: 'SCRFD-10GF with key points, deepinsight/insightface',
        trainingData: 'WIDER FACE (its pictures have research-only terms)',
      },
      input: {
        name: 'input.1',
        width: 640,
        height: 640,
        colourOrder: 'RGB',
        mean: [127.5, 127.5, 127.5],
        scale: 1 / 128,
      },
      decoding: { kind: 'scrfd', anchorsPerCell: 2, scoreThreshold: 0.5, overlapMax: 0.4 },
    },
    {
      id: 'w600k-r50',
      version: '1',
      role: 'recognizer',
      file: 'w600k_r50.onnx',
      sha256: '4c06341c33c2ca1f86781dab0e829f88ad5b64be9fba56e56bc9ebdefc619e43',
      source: {
        url: `${mirrorUrl}/w600k_r50.onnx`,
        sha256: '4c06341c33c2ca1f86781dab0e829f88ad5b64be9fba56e56bc9ebdefc619e43',
        bytes: 174_383_860,
        format: { kind: 'onnx' },
      },
      ...insightfaceTerms,
      provenance: {
        origin: 'ArcFace ResNet-50, deepinsight/insightface',
        trainingData: 'WebFace600K (research-only terms)',
      },
      input: {
        name: 'input.1',
        width: 112,
        height: 112,
        colourOrder: 'RGB',
        mean: [127.5, 127.5, 127.5],
        scale: 1 / 127.5,
      },
      decoding: { kind: 'arcface', dimensions: 512, flip: true },
    },
  ],
}
