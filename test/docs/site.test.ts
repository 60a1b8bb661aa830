import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import type { Browser } from 'playwright-core'
import { contents, pageFiles, rootDir } from '../../docs/build/contents.ts'
import { generatedPages } from '../../docs/build/generated-pages.ts'
import { renderHtml } from '../../docs/build/render-html.ts'
import { parseOutline, type PageOutline } from '../../docs/build/page-outline.ts'
import { isExternalLink, pagePathOf } from '../../docs/build/page-path.ts'
import { buildSite } from '../../docs/build/build-site.ts'
import {
  accessibilityFindings,
  openChromium,
  skipWithoutBrowser,
  watchPageErrors,
} from '../support/console/browser/chromium.ts'
import { contrastFindings } from '../support/console/browser/contrast.ts'

const read = (file: string): Promise<string> => readFile(path.join(rootDir, file), 'utf8')

test('The contents list every page of docs/ once', () => {
  const files = globSync('docs/**/*.md', { cwd: rootDir }).map((file) => file.replaceAll('\\', '/'))
  assert.deepEqual(
    pageFiles.filter((file) => file.startsWith('docs/')).toSorted(),
    files.toSorted(),
  )
  assert.equal(new Set(pageFiles).size, pageFiles.length)
})

for (const [file, text] of Object.entries(generatedPages))
  test(`${file} is generated from the current schemas and tables`, async () => {
    assert.equal(await read(file), text(), 'run `npm run docs`')
  })

test('No link between the pages is broken', async () => {
  const outlines = new Map<string, PageOutline>()
  for (const file of pageFiles) outlines.set(file, parseOutline(await read(file)))
  assert.deepEqual(brokenLinks(outlines), [])
})

test('A broken link and a broken anchor are reported', () => {
  const page = parseOutline(
    '# Here\n\n[a](nowhere.md) [b](#there) [c](#here) [d](https://example.org)',
  )
  assert.deepEqual(brokenLinks(new Map([['docs/x.md', page]])), [
    'docs/x.md: nowhere.md',
    'docs/x.md: #there',
  ])
})

test('HTML markup in a page is escaped', () => {
  const html = renderHtml('docs/x.md', 'a <script>alert(1)</script>\n\n<b>c</b> `<i>`\n')
  assert.ok(!/<(?:script|b|i)>/u.test(html), html)
})

test('Code spans of the command line are shown as they are typed', async () => {
  const file = 'docs/reference/cli.md'
  const text = await read(file)
  assert.ok(text.includes('`source <(facegate completion bash)`'))
  assert.ok(renderHtml(file, text).includes('<code>source &lt;(facegate completion bash)</code>'))
})

/** Returns broken links as `file: link`. Links to source files must lead to an existing file. */
function brokenLinks(outlines: ReadonlyMap<string, PageOutline>): string[] {
  return [...outlines].flatMap(([file, { links }]) =>
    links
      .filter((link) => !isExternalLink(link))
      .filter((link) => {
        const [linkPath = '', anchor] = link.split('#')
        const target = linkPath === '' ? file : path.posix.join(path.posix.dirname(file), linkPath)
        const page = outlines.get(target)
        if (anchor !== undefined) return !page?.anchors.includes(anchor)
        return !page && !existsSync(path.join(rootDir, target))
      })
      .map((link) => `${file}: ${link}`),
  )
}

describe('The site in a browser', { skip: skipWithoutBrowser }, () => {
  let folder: string
  let browser: Browser

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'facegate-site-'))
    await buildSite(folder)
    browser = await openChromium()
  })
  after(async () => {
    await browser?.close()
    await rm(folder, { recursive: true, force: true })
  })

  for (const colorScheme of ['light', 'dark'] as const)
    test(`Every page fits 360 px in the ${colorScheme} scheme and loads nothing external`, async () => {
      const context = await browser.newContext({
        colorScheme,
        viewport: { width: 360, height: 740 },
      })
      const page = await context.newPage()
      const { messages } = watchPageErrors(page, pathToFileURL(folder).href)
      // The dark scheme differs only in colours, and one page per section has them all.
      const firstPages = contents.flatMap(({ files }) => files.slice(0, 1))
      const files = colorScheme === 'dark' ? firstPages : pageFiles
      const checked = new Set<string>()
      for (const file of files) {
        await page.goto(addressOf(file))
        const widthPx = await page.evaluate<number>('document.documentElement.scrollWidth')
        if (widthPx > 360) messages.push(`${file} is ${widthPx} px wide`)
        const findings = await accessibilityFindings(page, colorScheme, checked)
        messages.push(...findings.map((finding) => `${file}: ${finding}`))
      }
      assert.deepEqual(messages, [])
      await page.evaluate(
        `document.querySelector('main :is(p, li)').style = 'color: #888; background: #777'`,
      )
      assert.match((await contrastFindings(page, checked)).join(), /color-contrast: <(?:p|li)\b/u)
      await context.close()
    })

  test('The contrast of a text over other content is checked for each background', async () => {
    const page = await browser.newPage()
    const textOver = (background: string, topPx: number): string =>
      `<div style="height: 40px; background: ${background}"></div>
      <p style="position: absolute; top: ${topPx}px; margin: 0; color: #666">text</p>`
    const checked = new Set<string>()
    const bodyStyle = '<style>body { margin: 0 }</style>'
    await page.setContent(`${bodyStyle}${textOver('#fff', 0)}`)
    assert.deepEqual(await contrastFindings(page, checked), [])
    assert.equal(checked.size, 1)
    await page.setContent(`${bodyStyle}${textOver('#fff', 0)}${textOver('#777', 40)}`)
    assert.match((await contrastFindings(page, checked)).join(), /^color-contrast: <p\b[^|]+$/u)
    await page.close()
  })

  test('The navigation links to the pages', async () => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } })
    await page.goto(addressOf('README.md'))
    const navigation = page.getByRole('navigation', { name: 'Contents', exact: true })
    await navigation.getByRole('link', { name: 'Guide: door entry' }).click()
    await page.getByRole('heading', { level: 1, name: 'Guide: door entry', exact: true }).waitFor()
    await page.getByRole('link', { name: 'tutorial', exact: true }).click()
    await page.waitForURL(/tutorial\.html$/u)
    const widths = await page.$$eval('img', (images) => images.map((image) => image.naturalWidth))
    assert.deepEqual(widths, [720, 720])
  })

  const addressOf = (file: string): string =>
    pathToFileURL(path.join(folder, pagePathOf(file))).href
})
