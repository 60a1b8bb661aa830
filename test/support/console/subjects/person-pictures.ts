import sharp from 'sharp'
import type { EncodedImage } from '../../../../src/vision/image/input/encoded-image.ts'
import type { VisionClient } from '../../../../src/vision/vision-client.ts'
import {
  createFakeVisionClient,
  fakeImage,
  unlimitedVisionClient,
  type FakePerson,
} from '../../gallery/fake-vision.ts'

/** Between the picture, which a browser shows, and the description of its person. */
const marker = '\nperson: '

/** Returns a JPEG of a drawn face that the vision client of `pictureVision` reads as this person. */
export async function personPicture(person: FakePerson): Promise<Buffer> {
  const hue = Array.from(person.name).reduce((sum, letter) => sum + letter.charCodeAt(0) * 7, 0)
  const drawn = `<svg xmlns="http://www.w3.org/2000/svg" width="240" height="240">
    <rect width="240" height="240" fill="hsl(${hue % 360} 40% 80%)"/>
    <ellipse cx="120" cy="125" rx="75" ry="95" fill="hsl(${(hue + 20) % 360} 45% 65%)"/>
    <circle cx="92" cy="105" r="9"/><circle cx="148" cy="105" r="9"/>
    <path d="M85 165 q35 30 70 0" fill="none" stroke="black" stroke-width="5"/></svg>`
  const jpeg = await sharp(Buffer.from(drawn)).jpeg().toBuffer()
  return Buffer.concat([jpeg, Buffer.from(marker + JSON.stringify(person))])
}

/** Returns a file for the input of a page. */
export async function personFile(name: string, person: FakePerson) {
  return { name, mimeType: 'image/jpeg', buffer: await personPicture(person) }
}

/**
 * Creates a vision client for drawn people. The crop of a face is its picture.
 *
 * @param other the person in every other picture, such as one of the camera.
 */
export function pictureVision(other: FakePerson): VisionClient {
  const fake = createFakeVisionClient()
  return unlimitedVisionClient(async (image, ...rest) => {
    const { picture, person } = parsePicture(image, other)
    const bytes = fakeImage(person).bytes.toString('base64')
    const analysis = await fake.analyzeImage({ ...image, bytes }, ...rest)
    const faces = analysis.faces.map((face) => ({
      ...face,
      ...(face.contextCrop !== undefined && { contextCrop: picture.toString('base64') }),
    }))
    return { ...analysis, faces }
  })
}

function parsePicture({ bytes }: EncodedImage, other: FakePerson) {
  const file = Buffer.from(bytes, 'base64')
  const end = file.lastIndexOf(marker)
  if (end === -1) return { picture: file, person: other }
  const person = JSON.parse(file.subarray(end + marker.length).toString()) as FakePerson
  return { picture: file.subarray(0, end), person }
}
