import { discoveryOf } from './messages.mjs'

/** Creates one event entity in Home Assistant for each camera of Frigate. */
export function createAnnouncements({ broker, frigate, retryMs }) {
  /** Cameras that Home Assistant has an entity of, since the last connection or its last restart. */
  const announced = new Set()
  let nextReading

  function announce(camera) {
    announced.add(camera)
    const { topic, content } = discoveryOf(camera)
    broker.publish(topic, JSON.stringify(content), { retain: false })
  }

  /** Repeated until Frigate returns its cameras: after a power failure it can start last. */
  async function readCameras() {
    clearTimeout(nextReading)
    try {
      for (const camera of await frigate.readCameras()) announce(camera)
    } catch (error) {
      console.log(`the cameras of Frigate cannot be read, repeated: ${error.message}`)
      clearTimeout(nextReading)
      nextReading = setTimeout(() => void readCameras(), retryMs)
    }
  }

  return {
    announceAll: async () => {
      announced.clear()
      await readCameras()
    },
    announceOnce: (camera) => {
      if (!announced.has(camera)) announce(camera)
    },
  }
}
