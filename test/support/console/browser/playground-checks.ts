import assert from 'node:assert/strict'
import type { Page } from 'playwright-core'
import type { TestImage } from '../../facegate/test-facegate.ts'

/** Chooses a file that is refused, then one that is accepted. A missed drop does not leave the page. */
export async function chooseFiles(page: Page, image: TestImage): Promise<void> {
  const input = page.locator('input[type=file]')
  await page.getByText('Add one image.').waitFor()
  const gif = { name: 'sample.gif', mimeType: 'image/gif', buffer: Buffer.from('GIF89a') }
  await input.setInputFiles(gif)
  await page.getByText('sample.gif is neither JPEG nor PNG.').waitFor()
  assert.ok(await page.evaluate<boolean>(missedDropScript), 'the browser does not open the file')
  const { bytes: buffer, contentType: mimeType } = image
  await input.setInputFiles({ name: 'sample1.jpg', mimeType, buffer })
}

/** Drops a file beside the drop zone. A script, because the tests have no types of the DOM. */
const missedDropScript = `{
  const dataTransfer = new DataTransfer()
  dataTransfer.items.add(new File(['x'], 'missed.jpg', { type: 'image/jpeg' }))
  const drop = new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true })
  document.querySelector('h1').dispatchEvent(drop)
  drop.defaultPrevented
}`

type Box = {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** Checks that the labels of the faces are inside their picture and do not overlap. */
export async function assertLegibleLabels(page: Page): Promise<void> {
  const frame = await page.locator('.fg-image svg').boundingBox()
  const labels = await page.locator('[data-label]').all()
  const boxes = await Promise.all(labels.map((label) => label.boundingBox()))
  assert.ok(frame && boxes.length > 0)
  for (const [index, box] of boxes.entries()) {
    assert.ok(box && box.x >= frame.x - 1 && box.y >= frame.y - 1)
    assert.ok(box.x + box.width <= frame.x + frame.width + 1, 'inside the picture')
    assert.ok(box.y + box.height <= frame.y + frame.height + 1, 'inside the picture')
    for (const other of boxes.slice(0, index)) assert.ok(other && !overlaps(box, other))
  }
}

function overlaps(a: Box, b: Box): boolean {
  const isBeside = a.x + a.width <= b.x + 1 || b.x + b.width <= a.x + 1
  return !isBeside && a.y + a.height > b.y + 1 && b.y + b.height > a.y + 1
}

/** Decides the shown candidates again with other thresholds, and opens an earlier run. */
export async function judgeAgain(page: Page, name: string): Promise<void> {
  const candidate = page.getByRole('progressbar', { name })
  assert.match((await candidate.getAttribute('aria-label')) ?? '', /match$/u)
  await page.getByRole('slider', { name: 'Threshold' }).focus()
  await page.keyboard.press('Home')
  await page.getByText('Threshold 0.00').waitFor()
  await page.getByText('are not in this response. Run the action with Debug').waitFor()
  await page.keyboard.press('End')
  await page.getByText(/^False-match rate at this threshold: at most 1 of .* pairs/u).waitFor()
  const history = page.getByRole('region', { name: 'History' })
  assert.equal(await history.getByRole('listitem').count(), 3, 'no further call was sent')
  await history.getByRole('button', { name: /svc.detect/u }).click()
  await page.getByRole('heading', { name: 'Result of svc.detect' }).waitFor()
}
