import type { Page } from 'playwright-core'
import sharp from 'sharp'
import { fakeImage, type FakePerson } from '../../gallery/fake-vision.ts'

/** A drawn face that a browser can decode. It has the size that the fake vision client reports. */
export async function drawnFace(name: string) {
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" width="1000" height="1000">
    <rect width="1000" height="1000" fill="#8aa39b"/>
    <ellipse cx="120" cy="120" rx="85" ry="105" fill="#e3b995"/>
    <circle cx="90" cy="100" r="10" fill="#222"/><circle cx="150" cy="100" r="10" fill="#222"/>
    <path d="M85 165 Q120 195 155 165" stroke="#722" stroke-width="7" fill="none"/></svg>`
  return { name, mimeType: 'image/png', buffer: await sharp(Buffer.from(svg)).png().toBuffer() }
}

/**
 * Replaces the images of the next calls of the playground by images that the fake vision client can
 * read. It reads the names of people, and a browser accepts only pictures.
 */
export async function sendFakeImages(
  page: Page,
  people: readonly (FakePerson | string)[],
): Promise<void> {
  await page.route('**/console/v1/playground', async (route) => {
    const body = route.request().postDataJSON()
    for (const [index, item] of body.call.params.images.entries())
      item.bytes = fakeImage(people[index] ?? 'another person').bytes.toString('base64')
    await route.continue({ postData: JSON.stringify(body) })
  })
}
