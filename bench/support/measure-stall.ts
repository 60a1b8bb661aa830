/** The longest time for which the event loop of this process was blocked, ms. */
export type LongestStall = {
  /** Includes waits for the disk and for a core that other processes use. */
  readonly wallMs: number
  /** CPU time of the thread, which other processes do not change. */
  readonly cpuMs: number
}

const tickMs = 1

/** Measures the longest stall between two ticks of a timer. `stop` returns it. */
export function measureStall(): { readonly stop: () => LongestStall } {
  let [wallMs, cpuMs] = [0, 0]
  let [lastWallMs, lastCpuMs] = [performance.now(), threadCpuMs()]
  const tick = (): void => {
    const [nowMs, nowCpuMs] = [performance.now(), threadCpuMs()]
    wallMs = Math.max(wallMs, nowMs - lastWallMs - tickMs)
    cpuMs = Math.max(cpuMs, nowCpuMs - lastCpuMs)
    ;[lastWallMs, lastCpuMs] = [nowMs, nowCpuMs]
  }
  const timer = setInterval(tick, tickMs)
  return {
    stop: () => {
      tick()
      clearInterval(timer)
      return { wallMs, cpuMs }
    },
  }
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
