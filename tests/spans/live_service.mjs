// SPDX-License-Identifier: BSD-3-Clause
/*
 * Five services in one process, instrumented by OpenTelemetry's SDK for Node, that call each other over HTTP on 127.0.0.1, with a problem or none.
 *   node live_service.mjs PACKAGES OUT PROBLEM SEED REQUESTS
 * PACKAGES has node_modules with @opentelemetry; OUT gets what the SDK's exporters send, one body of OTLP/HTTP JSON a line, as the Collector's file
 * exporter has it. Prints what was planted, and by how many milliseconds timers were late, in the median: on a busy machine, calls wait for the processor.
 */
import { createRequire } from 'node:module';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const [packages, out, problem, seed, requests] = process.argv.slice(2);
const load = createRequire(`${packages}/package.json`);
const { trace, context, propagation, SpanKind, SpanStatusCode } = load('@opentelemetry/api');
const { NodeTracerProvider, BatchSpanProcessor } = load('@opentelemetry/sdk-trace-node');
const { OTLPTraceExporter } = load('@opentelemetry/exporter-trace-otlp-http');
const { resourceFromAttributes } = load('@opentelemetry/resources');

let state = Number(seed) >>> 0;
const chance = () => ((state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32);
const wait = (ms) => new Promise((done) => setTimeout(done, ms));

// ---- a collector ----
const bodies = [];
const collector = http.createServer((request, answer) => {
  const parts = [];
  request.on('data', (part) => parts.push(part));
  request.on('end', () => {
    bodies.push(Buffer.concat(parts).toString());
    answer.setHeader('content-type', 'application/json').end('{}');
  });
});
const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
const collected = await listen(collector);

// ---- services ----
const providers = [];
function tracerOf(service) {
  const exporter = new OTLPTraceExporter({ url: `http://127.0.0.1:${collected}/v1/traces` });
  const provider = new NodeTracerProvider({ resource: resourceFromAttributes({ 'service.name': service }), spanProcessors: [new BatchSpanProcessor(exporter, { scheduledDelayMillis: 200 })] });
  if (providers.length === 0) provider.register(); // the context and its propagation are those of the process
  providers.push(provider);
  return provider.getTracer('live');
}

async function within(tracer, name, options, work) {
  return tracer.startActiveSpan(name, options, async (span) => {
    try {
      return await work(span);
    } catch (error) {
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
      throw error;
    } finally {
      span.end();
    }
  });
}

const ports = {};
/* Handlers by route: they get the tracer, and return a status. */
async function serve(service, routes) {
  const tracer = tracerOf(service);
  const server = http.createServer((request, answer) => {
    const route = request.url.split('?')[0];
    const parent = propagation.extract(context.active(), request.headers);
    context.with(parent, () => within(tracer, `${request.method} ${route}`, { kind: SpanKind.SERVER, attributes: { 'http.request.method': request.method, 'http.route': route } }, async (span) => {
      const status = await routes[route](tracer);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      answer.writeHead(status).end();
    }));
  });
  ports[service] = await listen(server);
  return server;
}

const agent = new http.Agent({ keepAlive: true });
function get(tracer, service, route) {
  return within(tracer, `GET ${route}`, { kind: SpanKind.CLIENT, attributes: { 'http.request.method': 'GET', 'server.address': service } }, (span) => new Promise((done, fail) => {
    const headers = {};
    propagation.inject(context.active(), headers);
    http.get({ host: '127.0.0.1', port: ports[service], path: route, headers, agent }, (answer) => {
      answer.resume();
      answer.on('end', () => {
        span.setAttribute('http.response.status_code', answer.statusCode);
        if (answer.statusCode >= 500) fail(new Error(`status ${answer.statusCode}`));
        else done();
      });
    }).on('error', fail);
  }));
}

const query = (tracer, text, ms) => within(tracer, 'SELECT', { kind: SpanKind.CLIENT, attributes: { 'db.system': 'sqlite', 'db.query.text': text } }, () => wait(ms));

// ---- what was planted ----
let planted = 0;
let busy = 0;
const stock = await serve('stock', {
  '/stock': async (tracer) => {
    await query(tracer, 'select * from stock where sku in (?)', 20);
    if (problem === 'retries' && busy++ % 3 === 0) {
      planted++;
      return 503;
    }
    return 200;
  },
});
const prices = await serve('prices', { '/price': async (tracer) => { await query(tracer, 'select * from price where sku in (?)', 25); return 200; } });
const offers = await serve('offers', { '/offer': async (tracer) => { await query(tracer, 'select * from offer where sku in (?)', 25); return 200; } });
const orders = await serve('orders', {
  '/lines': async (tracer) => {
    await query(tracer, 'select * from orders where id = ?', 20);
    const count = problem === 'n+1' ? 8 + Math.floor(chance() * 8) : 1;
    planted += problem === 'n+1';
    for (let i = 0; i < count; i++) await query(tracer, count > 1 ? 'select * from lines where id = ?' : 'select * from lines where order_id = ?', 10);
    return 200;
  },
});

async function tried(tracer) {
  for (let i = 0; i < 3; i++) {
    try {
      return await within(tracer, 'reserve attempt', {}, () => get(tracer, 'stock', '/stock'));
    } catch {
      await wait(20);
    }
  }
  return undefined;
}

const gateway = await serve('gateway', {
  '/order': async (tracer) => {
    await get(tracer, 'orders', '/lines');
    await tried(tracer);
    return 200;
  },
  '/dashboard': (tracer) => within(tracer, 'collect', {}, async () => {
    const calls = [['stock', '/stock'], ['prices', '/price'], ['offers', '/offer']];
    if (problem === 'serial') {
      planted++;
      for (const call of calls) await get(tracer, ...call);
    } else {
      await Promise.all(calls.map((call) => get(tracer, ...call).catch(() => undefined)));
    }
    return 200;
  }),
});

// ---- load ----
const client = tracerOf('client');
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
for (let i = 0; i < Number(requests); i++) {
  const route = chance() < 0.5 ? '/order' : '/dashboard';
  await within(client, `user ${route}`, {}, () => get(client, 'gateway', route));
}
await Promise.all(providers.map((provider) => provider.shutdown()));
for (const server of [gateway, orders, stock, prices, offers, collector]) {
  server.close();
  server.closeAllConnections();
}
agent.destroy();
writeFileSync(out, bodies.map((body) => `${body}\n`).join(''));
process.stdout.write(`${JSON.stringify({ planted, bodies: bodies.length, late: delay.percentile(50) / 1e6 - 5 })}\n`);
