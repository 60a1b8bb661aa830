import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * The console as static files: hashed assets, a chunk per page, nothing inline, so that the server
 * can forbid inline scripts and cache the assets for ever.
 */
// Vite reads its configuration from a default export.
// oxlint-disable-next-line import/no-default-export
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  // The server puts a new nonce in its place each time it sends the page.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir: 'dist',
    emptyOutDir: true,
    target: 'es2023',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    manifest: 'manifest.json',
    chunkSizeWarningLimit: 700,
  },
})
