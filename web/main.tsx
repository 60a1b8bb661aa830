import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import './theme/console.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { Console } from './shell/console.tsx'
import { lendStyleNonce } from './shell/style-nonce.ts'

lendStyleNonce()

const root = document.querySelector('#root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <StrictMode>
    <Console />
  </StrictMode>,
)
