import '/liveness/index.js'

const check = document.querySelector('facegate-liveness')
check.addEventListener('passed', ({ detail }) => void enter(detail.sessionId))
check.addEventListener('error', ({ detail }) => console.warn(detail.problem, detail.cause))

async function enter(sessionId) {
  const response = await fetch(`/entrance?session=${sessionId}`, { method: 'POST' })
  document.querySelector('#result').textContent = (await response.json()).text
}
