import { mkdtemp, rm } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import type { Page } from 'playwright-core'
import {
  openConsoleBrowser,
  type ConsoleBrowser,
} from '../../test/support/console/browser/console-browser.ts'
import { startConsole } from '../../test/support/console/test-console.ts'
import { markdownTable, median, showProgress } from '../support/table.ts'
import { fillCallLog } from './fill-call-log.ts'

const pageRows = 100
const rounds = 9

/**
 * `npm run bench logPage [--calls 1000000]`: opens the request log with 100 rows in Chromium, on a large
 * log. It measures the list request, and the time until the rows are painted and a click on a row works.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: { calls: { type: 'string', default: '1000000' } },
  })
  const dataDir = await mkdtemp(path.join(tmpdir(), 'facegate-bench-log-'))
  try {
    const initialConsole = await startConsole({ dataDir })
    const { projectId, gallery } = initialConsole
    const { key } = gallery
    await initialConsole[Symbol.asyncDispose]()
    showProgress(`writing ${values.calls} calls`)
    await fillCallLog(dataDir, { projectId, calls: Number(values.calls), nowMs: Date.now() })
    await using opened = await openConsoleBrowser({ dataDir, key })
    await opened.page.addInitScript({ content: observeRows })
    const loads: ListTimes[] = []
    const nextPages: ListTimes[] = []
    for (let round = 0; round < rounds; round++) {
      showProgress(`round ${round + 1} of ${rounds}`)
      loads.push(await loadPage(opened))
      nextPages.push(await openNextPage(opened.page))
    }
    const load = loadavg()[0]?.toFixed(1)
    console.log(`median (slowest) of ${rounds}, ms; load of the machine ${load}\n`)
    console.log(
      markdownTable(
        ['step', 'the page is loaded', 'the next page of the list'],
        [
          row('first contentful paint', loads, undefined, ({ paintMs }) => paintMs),
          row('list request: sent until its last byte', loads, nextPages, serverMs),
          row('last byte until the rows are painted', loads, nextPages, renderMs),
          row('rows painted until a click on a row opens it', loads, nextPages, clickMs),
          row('list request sent until a click works', loads, nextPages, interactiveMs),
        ],
      ),
    )
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
}

/** Times in a page, in milliseconds since its navigation. */
type ListTimes = {
  readonly paintMs: number
  readonly sentMs: number
  readonly receivedMs: number
  readonly paintedMs: number
  readonly openedMs: number
}

const serverMs = (times: ListTimes): number => times.receivedMs - times.sentMs
const renderMs = (times: ListTimes): number => times.paintedMs - times.receivedMs
const clickMs = (times: ListTimes): number => times.openedMs - times.paintedMs
const interactiveMs = (times: ListTimes): number => times.openedMs - times.sentMs

function row(
  name: string,
  loads: readonly ListTimes[],
  nextPages: readonly ListTimes[] | undefined,
  valueOf: (times: ListTimes) => number,
): string[] {
  const text = (times: readonly ListTimes[]) => {
    const measured = times.map(valueOf)
    return `${median(measured).toFixed(0)} (${Math.max(...measured).toFixed(0)})`
  }
  return [name, text(loads), nextPages ? text(nextPages) : '–']
}

/**
 * Records in the page when a list of new rows has been painted, then clicks its first row and records
 * when the address contains the opened call.
 */
const observeRows = `(() => {
  let shown = ''
  globalThis.listTimes = {}
  const openFirst = (row) => {
    listTimes.paintedMs = performance.now()
    row.click()
    const wait = () => {
      if (location.search.includes('call=')) listTimes.openedMs = performance.now()
      else setTimeout(wait)
    }
    wait()
  }
  new MutationObserver(() => {
    const rows = document.querySelectorAll('tbody tr[data-pressable]')
    if (rows.length < ${pageRows} || rows[0].textContent === shown) return
    shown = rows[0].textContent
    // The task after an animation frame runs when the frame has been painted.
    requestAnimationFrame(() => setTimeout(() => openFirst(rows[0])))
  }).observe(document, { childList: true, subtree: true, characterData: true })
})()`

async function loadPage({ testConsole, page }: ConsoleBrowser): Promise<ListTimes> {
  await page.goto(`${testConsole.url}/log?limit=${pageRows}`)
  return readTimes(page)
}

async function openNextPage(page: Page): Promise<ListTimes> {
  await page.getByRole('button', { name: 'Close' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  await page.evaluate('performance.clearResourceTimings(), (listTimes = {})')
  await page.getByRole('button', { name: 'Next page' }).click()
  return readTimes(page)
}

async function readTimes(page: Page): Promise<ListTimes> {
  await page.getByRole('dialog').waitFor()
  return page.evaluate<ListTimes>(`(() => {
    const request = performance
      .getEntriesByType('resource')
      .find(({ name }) => name.includes('/v1/log?') && name.includes('limit=${pageRows}'))
    return {
      paintMs: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0,
      sentMs: request.startTime,
      receivedMs: request.responseEnd,
      ...listTimes,
    }
  })()`)
}
