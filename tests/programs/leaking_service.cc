// SPDX-License-Identifier: MIT
// A service as one meets them: it answers requests, keeps what it needs in a cache of bounded size,
// and forgets to close the sessions of one kind of client. Runs for so many seconds.
#include <chrono>
#include <cstdlib>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

struct Request {
	unsigned number;
	std::string path;
	std::map<std::string, std::string> headers;
	std::string body;
};

struct Session {
	std::string user;
	std::vector<std::string> history;
	std::vector<char> buffer = std::vector<char>(4096);
};

class SessionStore
{
      public:
	Session &open(const Request &request)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto &session = sessions[request.number];
		session = std::make_unique<Session>();
		session->user = request.headers.at("user");
		session->history.push_back(request.path);
		return *session;
	}
	void close(unsigned number)
	{
		std::lock_guard<std::mutex> guard(lock);
		sessions.erase(number);
	}

      private:
	std::mutex lock;
	std::unordered_map<unsigned, std::unique_ptr<Session>> sessions;
};

/* The last 4000 pages; older ones are dropped. */
class PageCache
{
      public:
	void put(const std::string &page)
	{
		std::lock_guard<std::mutex> guard(lock);
		pages.push_back(page);
		if (pages.size() > 4000)
			pages.pop_front();
	}

      private:
	std::mutex lock;
	std::list<std::string> pages;
};

SessionStore sessions;
PageCache cache;

Request parse_request(unsigned number)
{
	Request request{number, "/item/" + std::to_string(number % 977), {}, {}};

	for (int i = 0; i < 12; i++)
		request.headers["x-header-" + std::to_string(i)] = std::string(80, 'v');
	request.headers["user"] = "user-" + std::to_string(number % 101);
	request.headers["client"] = number % 3 ? "browser" : "mobile";
	request.body.assign(2000 + number % 3000, 'b');
	return request;
}

std::string render_page(const Request &request)
{
	std::string page = "<html>";

	for (int row = 0; row < 60; row++)
		page += "<tr><td>" + request.path + "</td><td>" + std::to_string(row) +
			std::string(100, '.') + "</td></tr>";
	return page;
}

/* The bug: a mobile client says goodbye in another way, and nobody listens. */
void handle_request(unsigned number)
{
	Request request = parse_request(number);

	sessions.open(request);
	cache.put(render_page(request));
	if (request.headers["client"] != "mobile")
		sessions.close(number);
}

void serve(unsigned first, unsigned step, std::chrono::steady_clock::time_point end)
{
	for (unsigned number = first; std::chrono::steady_clock::now() < end; number += step) {
		handle_request(number);
		std::this_thread::sleep_for(std::chrono::microseconds(200));
	}
}

} // namespace

int main(int argc, char **argv)
{
	auto end = std::chrono::steady_clock::now() +
		   std::chrono::seconds(argc > 1 ? atoi(argv[1]) : 60);
	std::vector<std::thread> workers;

	for (unsigned i = 0; i < 4; i++)
		workers.emplace_back(serve, i, 4, end);
	for (auto &worker : workers)
		worker.join();
	return 0;
}
