/** The service worker of every page: notifications, and what is shown without a network (public/sw.js). */
export function register(): Promise<ServiceWorkerRegistration> {
  const script = '/sw.js';
  const { trustedTypes } = globalThis as { trustedTypes?: { createPolicy(name: string, rules: object): { createScriptURL(url: string): unknown } } };
  const url = trustedTypes ? (policy ??= trustedTypes.createPolicy('athir-worker', { createScriptURL: () => script })).createScriptURL(script) : script;
  return navigator.serviceWorker.register(url as string, { scope: '/', updateViaCache: 'none' }).then(() => navigator.serviceWorker.ready);
}
let policy: { createScriptURL(url: string): unknown } | undefined;

/** Registers it when the browser has nothing else to do, so that it costs a first visit nothing. */
export function registerAtRest(): void {
  if (!('serviceWorker' in navigator) || !isSecureContext) return;
  const rest = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 3000));
  const begin = () => rest(() => void register().catch(() => undefined));
  if (document.readyState === 'complete') begin();
  else addEventListener('load', begin, { once: true });
}
