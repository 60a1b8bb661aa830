import type { PackManifestInput } from '../pack-manifest.ts'

/** A recognizer of fal. It has the format of InsightFace; the constants are from `arcface_onnx.py`. */
export const auraface: PackManifestInput = {
  schema: 1,
  name: 'auraface',
  description:
    'A large recognizer for commercial use, 261 MB. It must be calibrated with your own pictures before use.',
  models: [
    {
      id: 'auraface-v1',
      version: '1',
      role: 'recognizer',
      file: 'glintr100.onnx',
      sha256: 'a7933ea5330113b01c9b60351d8f4c33003f145d8470ac5f0e52ee2effe25c60',
      source: {
        url: 'https://huggingface.co/fal/AuraFace-v1/resolve/af6d057c9b0ec4071d4c49c80e3539258798b609/glintr100.onnx',
        sha256: 'a7933ea5330113b01c9b60351d8f4c33003f145d8470ac5f0e52ee2effe25c60',
        bytes: 260_694_151,
        format: { kind: 'onnx' },
      },
      licence: { name: 'Apache-2.0', commercialUse: 'allowed', note: 'Stated by its model card.' },
      provenance: {
        origin: 'AuraFace-v1 (ResNet-100, ArcFace), fal',
        trainingData: 'not published; see its model card',
      },
      input: {
        width: 112,
        height: 112,
        colourOrder: 'RGB',
        mean: [127.5, 127.5, 127.5],
        scale: 1 / 127.5,
      },
      decoding: { kind: 'arcface', dimensions: 512, flip: true },
      notFor:
        'Small machines: it has sixty times as many weights as MobileFaceNet. Not measured here.',
    },
  ],
}
