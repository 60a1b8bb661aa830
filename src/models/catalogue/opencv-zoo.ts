import type { PackManifestInput } from '../pack-manifest.ts'

const zooUrl =
  'https://media.githubusercontent.com/media/opencv/opencv_zoo/47534e27c9851bb1128ccc0102f1145e27f23f98/models'

/** A detector and a recognizer of OpenCV; the constants are from FaceDetectorYN and FaceRecognizerSF. */
export const opencvZoo: PackManifestInput = {
  schema: 1,
  name: 'opencv-zoo',
  description:
    'A detector and a recognizer of OpenCV for commercial use, 39 MB. ' +
    'The recognizer must be calibrated with your own pictures before use.',
  models: [
    {
      id: 'yunet-2023mar',
      version: '1',
      role: 'detector',
      file: 'face_detection_yunet_2023mar.onnx',
      sha256: '8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4',
      source: {
        url: `${zooUrl}/face_detection_yunet/face_detection_yunet_2023mar.onnx`,
        sha256: '8f2383e4dd3cfbb4553ea8718107fc0423210dc964f9f4280604804ed2552fa4',
        bytes: 232_589,
        format: { kind: 'onnx' },
      },
      licence: {
        name: 'MIT',
        commercialUse: 'allowed',
        note: 'LICENSE file in the folder of the model.',
      },
      provenance: {
        origin: 'YuNet of March 2023, opencv/opencv_zoo',
        trainingData: 'WIDER FACE (its pictures have research-only terms)',
      },
      input: { width: 640, height: 640, colourOrder: 'BGR' },
      decoding: { kind: 'yunet', scoreThreshold: 0.7, overlapMax: 0.35 },
      notFor:
        'Low latency: at 640 px it needs four times the computation of the recommended pack. Not measured here.',
    },
    {
      id: 'sface-2021dec',
      version: '1',
      role: 'recognizer',
      file: 'face_recognition_sface_2021dec.onnx',
      sha256: '0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79',
      source: {
        url: `${zooUrl}/face_recognition_sface/face_recognition_sface_2021dec.onnx`,
        sha256: '0ba9fbfa01b5270c96627c4ef784da859931e02f04419c829e83484087c34e79',
        bytes: 38_696_353,
        format: { kind: 'onnx' },
      },
      licence: {
        name: 'Apache-2.0',
        commercialUse: 'allowed',
        note: 'LICENSE file in the folder of the model.',
      },
      provenance: {
        origin: 'SFace of December 2021, opencv/opencv_zoo',
        trainingData: 'not stated there; its paper uses public data sets with research-only terms',
      },
      // The graph subtracts the mean and applies the scale.
      input: { width: 112, height: 112, colourOrder: 'RGB' },
      decoding: { kind: 'arcface', dimensions: 128, flip: true },
      notFor: 'Use without your own measurement: not measured here.',
    },
  ],
}
