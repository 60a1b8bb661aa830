import type { PackManifestInput } from '../pack-manifest.ts'

/** A network of hairymax; the constants are from its `src/FaceAntiSpoofing.py`. */
export const antispoofingBin: PackManifestInput = {
  schema: 1,
  name: 'antispoofing-bin-1.5',
  description: 'Another liveness network that rejects fewer live faces. Its licence is not stated.',
  models: [
    {
      id: 'antispoofing-bin-1.5',
      version: '1',
      role: 'liveness',
      file: 'AntiSpoofing_bin_1.5_128.onnx',
      sha256: 'a6c0553fab996a56962baeb0a49013a03c32b866999f6aea76936b6833929bda',
      source: {
        url: 'https://raw.githubusercontent.com/hairymax/Face-AntiSpoofing/eed4e278d80e60c2c63ea8e480886266e566ec63/saved_models/AntiSpoofing_bin_1.5_128.onnx',
        sha256: 'a6c0553fab996a56962baeb0a49013a03c32b866999f6aea76936b6833929bda',
        bytes: 1_896_015,
        format: { kind: 'onnx' },
      },
      licence: {
        name: 'not stated',
        commercialUse: 'unclear',
        note: 'The repository has no licence, so all rights are reserved by law.',
      },
      provenance: {
        origin: 'AntiSpoofing_bin_1.5_128, hairymax/Face-AntiSpoofing',
        trainingData: 'CelebA-Spoof (non-commercial research)',
      },
      input: { name: 'input', width: 128, height: 128, colourOrder: 'RGB', scale: 1 / 255 },
      decoding: {
        kind: 'antispoof',
        crop: 'square',
        cropFactor: 1.5,
        classes: 2,
        liveClass: 0,
        logits: true,
      },
      measured: [
        { what: 'ACER', on: 'NUAA (prints of 2010), ten held-out people', value: '0.046' },
        { what: 'live faces rejected at 0.5', on: 'LFW', value: '0.7 %' },
        { what: 'one face, one thread', on: '128×128', value: '5.2 ms' },
      ],
      notFor:
        'Commercial use without permission of its author; the only protection of anything valuable; ' +
        'use without another network: it classifies the sample of a screen as live (0.86).',
    },
  ],
}
