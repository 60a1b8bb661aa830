/** Time for a response of Frigate. */
const responseMsMax = 10_000

/** The part of Frigate's HTTP API that the bridge uses. */
export function createFrigate(url) {
  const api = `${url.replace(/\/+$/u, '')}/api`
  const send = (path, options) =>
    fetch(`${api}/${path}`, { ...options, signal: AbortSignal.timeout(responseMsMax) })
  return {
    /** Returns the names of the cameras. */
    readCameras: async () => {
      const response = await send('config')
      if (!response.ok) throw new Error(`/api/config returned ${response.status}`)
      return Object.keys((await response.json()).cameras)
    },

    /** Returns the current snapshot of an event, or undefined: earlier frames are still identified. */
    readSnapshot: async (id) => {
      // Frigate applies these parameters while the event is in progress.
      const parameters = 'bbox=0&timestamp=0&crop=1&quality=95'
      try {
        const response = await send(`events/${encodeURIComponent(id)}/snapshot.jpg?${parameters}`)
        const bytes = Buffer.from(await response.arrayBuffer())
        // With its type, the service reports the index of a frame that is no picture.
        if (response.ok && bytes.length > 0) return { bytes, contentType: 'image/jpeg' }
        console.log(id, `the snapshot returned ${response.status} with ${bytes.length} bytes`)
      } catch (error) {
        console.log(id, `the snapshot cannot be read: ${error.message}`)
      }
      return undefined
    },

    /** Names the person of an event. */
    setSubLabel: async (id, { name, similarity }) => {
      const response = await send(`events/${encodeURIComponent(id)}/sub_label`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ subLabel: name.slice(0, 100), subLabelScore: similarity }),
      })
      if (!response.ok) console.log(id, `the sub label returned ${response.status}`)
    },
  }
}
