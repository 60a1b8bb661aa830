import assert from 'node:assert/strict'
import { globSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { pageFiles } from '../../docs/build/contents.ts'
import { pagePathOf } from '../../docs/build/page-path.ts'
import { buildConsole } from '../../web/build.ts'
import { helpAddressOf, helpPages } from '../../web/help/help-pages.ts'
import {
  accessibilityFindings,
  openChromium,
  skipWithoutBrowser,
  stepTimeoutMs,
  watchPageErrors,
} from '../support/console/browser/chromium.ts'
import { consolePages } from '../support/console/browser/console-pages.ts'
import { spawnFacegate, type FacegateProcess } from '../support/facegate/spawn-facegate.ts'
import { rootDir } from '../support/paths.ts'

let facegate: FacegateProcess
before(async () => {
  await buildConsole()
  facegate = await spawnFacegate({ VISION_WORKERS: '1' })
})
after(() => facegate?.[Symbol.asyncDispose]())

const get = (address: string, accept = 'text/html'): Promise<Response> =>
  fetch(facegate.url + address, { headers: { accept } })

test('The service serves every page of the site, and /docs leads to the first one', async () => {
  const first = await get('/docs')
  assert.equal(first.url, `${facegate.url}/docs/`)
  assert.match(await first.text(), /<title>Facegate<\/title>/u)
  for (const file of pageFiles) {
    const response = await get(`/docs/${pagePathOf(file)}`)
    assert.equal(response.status, 200, file)
    assert.match(response.headers.get('content-security-policy') ?? '', /script-src 'self'/u)
    assert.doesNotMatch(await response.text(), /<script(?! src="[./]*site\.js" defer>)/u)
  }
  assert.equal((await get('/docs/none.html')).status, 404)
})

test('llms.txt lists every page with a sentence', async () => {
  const text = await (await get('/llms.txt', '*/*')).text()
  const lines = text.split('\n').filter((line) => line.startsWith('- '))
  const entries = lines.map(
    (line) => /^- \[(.+)\]\((\S+)\): (.+\.)$/u.exec(line) ?? assert.fail(line),
  )
  assert.deepEqual(
    entries.map(([, , address]) => address),
    pageFiles.map((file) => `/docs/${pagePathOf(file)}`),
  )
  const inSite = await (await get('/docs/llms.txt', '*/*')).text()
  assert.equal(inSite, text.replaceAll('](/docs/', ']('))
})

test('The sample pictures show the people that their page states', async () => {
  const faceCounts = { 'mia.jpg': 1, 'door.jpg': 1, 'other.jpg': 1, 'group.jpg': 3 }
  const images: Record<string, { bytes: Buffer; contentType: string }> = {}
  for (const [name, faceCount] of Object.entries(faceCounts)) {
    const response = await get(`/docs/samples/${name}`, '*/*')
    assert.equal(response.headers.get('content-type'), 'image/jpeg')
    const image = { bytes: Buffer.from(await response.arrayBuffer()), contentType: 'image/jpeg' }
    const { body } = await facegate.run('svc.detect', image)
    assert.equal(body.data.results[0].value.faceCount, faceCount, name)
    images[name] = image
  }
  await facegate.run('svc.enroll', images['mia.jpg']!, { externalId: 'mia' })
  const matchOf = async (name: string) => {
    const { body } = await facegate.run('svc.identify', images[name]!, { maxFaces: 3 })
    return body.data.results[0].value.faces.map(
      ({ candidates }: { readonly candidates: readonly { readonly externalId: string }[] }) =>
        candidates[0]?.externalId,
    )
  }
  assert.deepEqual(await matchOf('door.jpg'), ['mia'])
  assert.deepEqual(await matchOf('other.jpg'), [undefined])
  assert.ok((await matchOf('group.jpg')).includes('mia'))
})

test('The built site has the stated size', async (t) => {
  const releasing = await readFile(path.join(rootDir, 'docs', 'releasing.md'), 'utf8')
  const [, statedMb] = /the site of the documentation \((\d\.\d) MB,/u.exec(releasing) ?? []
  const folder = path.join(rootDir, 'web', 'dist', 'docs')
  const files = globSync('**/*', { cwd: folder }).map((file) => statSync(path.join(folder, file)))
  const bytes = files.filter((file) => file.isFile()).reduce((sum, { size }) => sum + size, 0)
  t.diagnostic(`${(bytes / 1e6).toFixed(1)} MB`)
  assert.ok(Math.abs(bytes / 1e6 - Number(statedMb)) < 0.3, `${bytes} bytes, not ${statedMb} MB`)
})

test('The help of each page of the console leads to a section of the site', async () => {
  // The help of another page leads to the first page of the site.
  const addresses = new Set<string>(consolePages.map(([, address]) => address))
  for (const address of Object.keys(helpPages)) assert.ok(addresses.has(address), address)
  for (const address of [...Object.keys(helpPages), '/projects/1', '/none']) {
    const target = helpAddressOf(address)
    const text = await (await get(target)).text()
    const [, anchor] = target.split('#')
    assert.ok(anchor === undefined || text.includes(` id="${anchor}"`), target)
    assert.match(text, /<title>/u, target)
  }
})

describe('The served site in a browser', { skip: skipWithoutBrowser }, () => {
  let browser: Browser
  before(async () => {
    browser = await openChromium()
  })
  after(() => browser?.close())

  /** Opens a page, runs the steps and asserts that no script failed or was blocked. */
  async function visit(
    address: string,
    options: Parameters<Browser['newContext']>[0],
    run: (page: Page) => Promise<void>,
  ): Promise<void> {
    const context = await browser.newContext(options)
    const page = await context.newPage()
    page.setDefaultTimeout(stepTimeoutMs)
    const { messages } = watchPageErrors(page, facegate.url)
    await page.goto(facegate.url + address)
    await run(page)
    assert.deepEqual(messages, [])
    await context.close()
  }

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [390, 1440])
      test(`The search works at ${width} px in the ${colorScheme} scheme without findings of axe`, async () => {
        await visit(
          '/docs/guides/door-entry.html',
          { colorScheme, viewport: { width, height: 800 } },
          async (page) => {
            await page.keyboard.press('/')
            await page.keyboard.type('duplicate threshold')
            const results = page.locator('#results')
            await results.getByRole('link').first().waitFor()
            assert.match(await results.getByRole('status').innerText(), /^\d+ sections$/u)
            assert.deepEqual(await accessibilityFindings(page, colorScheme), [])
            const widthPx = await page.evaluate<number>('document.documentElement.scrollWidth')
            assert.ok(widthPx <= width, `${widthPx} px`)
            await page.keyboard.press('ArrowDown')
            const chosen = results.getByRole('link').first()
            const target = await chosen.getAttribute('href')
            await page.keyboard.press('Enter')
            await page.waitForURL(target ?? '')
          },
        )
      })

  test('The search finds codes, settings and a word with a wrong letter, and reports no result', async () => {
    await visit('/docs/', {}, async (page) => {
      const field = page.getByRole('searchbox')
      const results = page.locator('#results')
      for (const [query, found] of [
        ['MULTIPLE_FACES', 'reference/errors.html#multiple_faces'],
        ['VISION_WORKERS', 'configuration.html'],
        ['calibratoin', 'recognition/calibration.html'],
      ] as const) {
        await field.fill(query)
        await results.locator(`a[href*="${found}"]`).first().waitFor()
      }
      await field.fill('zzzzzz')
      await results.getByText('No section contains these words.').waitFor()
      await page.keyboard.press('Escape')
      await results.waitFor({ state: 'hidden' })
    })
  })

  test('A code block is copied with the address of the service', async () => {
    const permissions = ['clipboard-read', 'clipboard-write']
    await visit('/docs/samples/', { permissions }, async (page) => {
      // The button reports the copy for a short time only.
      const reported = page.evaluate(`new Promise((resolve) => {
        const button = document.querySelector('.copy')
        new MutationObserver(() => resolve(button.textContent)).observe(button, { childList: true })
        button.click()
      })`)
      assert.equal(await reported, 'Copied')
      const copied = await page.evaluate<string>('navigator.clipboard.readText()')
      assert.ok(copied.includes(`curl -sSO ${facegate.url}/docs/samples/$name.jpg`), copied)
    })
  })

  test('The tabs of an example work by keyboard without scripts', async () => {
    const options = { javaScriptEnabled: false, viewport: { width: 390, height: 800 } }
    await visit('/docs/reference/routes/list-groups.html', options, async (page) => {
      const tabs = page.getByRole('group', { name: 'Language' })
      assert.ok(await tabs.getByText('curl -sS').isVisible())
      assert.ok(!(await tabs.getByText('facegate.groups.list').first().isVisible()))
      await tabs.getByRole('radio', { name: 'curl' }).focus()
      for (const [name, text] of [
        ['TypeScript', 'createClient'],
        ['Python', 'os.environ'],
      ] as const) {
        await page.keyboard.press('ArrowRight')
        assert.ok(await tabs.getByRole('radio', { name }).isChecked())
        assert.ok(await tabs.locator('pre', { hasText: text }).isVisible())
        assert.ok(!(await tabs.getByText('curl -sS').isVisible()))
      }
      // Without its script, the page has no search.
      assert.ok(!(await page.locator('.search').isVisible()))
      await page.getByRole('link', { name: 'All pages' }).click()
      await page.getByRole('link', { name: 'GET /v1/me' }).click()
      await page.getByRole('heading', { name: 'GET /v1/me' }).waitFor()
    })
  })

  test('The selected language applies to all examples, also on the next page', async () => {
    await visit('/docs/reference/actions.html', {}, async (page) => {
      const chosen = page.getByRole('radio', { name: 'Python', checked: true })
      assert.equal(await chosen.count(), 0)
      await page.locator('label', { hasText: 'Python' }).nth(2).click()
      const all = await page.getByRole('radio', { name: 'Python' }).count()
      assert.ok(all > 9, `${all} examples`)
      assert.equal(await chosen.count(), all)
      await page.goto(`${facegate.url}/docs/reference/routes/get-me.html`)
      await chosen.waitFor()
      assert.ok(await page.locator('pre', { hasText: 'import os' }).isVisible())
    })
  })

  test('The list of sections is open beside the text and folded on a phone', async () => {
    for (const [width, isOpen] of [
      [1440, true],
      [390, false],
    ] as const)
      await visit('/docs/privacy.html', { viewport: { width, height: 800 } }, async (page) => {
        const outline = page.getByRole('navigation', { name: 'On this page' })
        assert.equal(await outline.getByRole('link').first().isVisible(), isOpen)
        if (!isOpen) await outline.getByText('On this page').click()
        const link = outline.getByRole('link').first()
        const target = (await link.getAttribute('href')) ?? ''
        await link.click()
        await page.waitForURL(`**/privacy.html${target}`)
      })
  })
})
